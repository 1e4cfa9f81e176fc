import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressFromHex, parseAddress } from '../src/address.ts';
import { formatUnits, MAX_AMOUNT_UNITS, parseAmount, toTokenUnits } from '../src/amount.ts';
import { isId, newId, newPublicToken, newSecret, newWebhookKey } from '../src/ids.ts';

describe('amounts', () => {
  test.each([
    ['10.50', 10_500_000n],
    ['0.000001', 1n],
    ['999999999999.999999', 999_999_999_999_999_999n],
    ['1', 1_000_000n],
  ])('%s is %s millionths', (text, units) => expect(parseAmount(text)).toBe(units));

  test.each([
    '',
    '0',
    '0.0',
    '0.000000',
    '01',
    '1.',
    '.5',
    '1.0000001',
    '-1',
    '+1',
    '1e3',
    '1,5',
    ' 1',
    '1 ',
    '1\n',
    '1234567890123',
    '١',
    '1_0',
  ])('%j is no amount', (text) => expect(parseAmount(text)).toBeNull());

  test('every amount keeps its value when written and read', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 18n - 1n }), (units) => {
        expect(parseAmount(formatUnits(units, 6))).toBe(units);
      }),
    );
  });

  test('the largest amount is the largest that the pattern allows', () => {
    expect(parseAmount('999999999999.999999')).toBe(MAX_AMOUNT_UNITS);
  });

  test.each([
    [10_500_000n, 6, '10.5'],
    [1_000_000n, 6, '1'],
    [100n, 6, '0.0001'],
    [1_200_000_000_000_000_000n, 18, '1.2'],
    [7n, 0, '7'],
  ])('%s base units of a token with %s decimals are written %s', (units, decimals, text) =>
    expect(formatUnits(units, decimals)).toBe(text),
  );

  test('a token with 6 decimals counts in millionths, BNB Chain the same amount in 18 decimals', () => {
    expect(toTokenUnits(10_500_000n, 6)).toBe(10_500_000n);
    expect(toTokenUnits(10_500_000n, 18)).toBe(10_500_000_000_000_000_000n);
    expect(() => toTokenUnits(1n, 5)).toThrow(RangeError);
    expect(() => toTokenUnits(1n, 5)).toThrow('a token with 5 decimals cannot carry every amount');
  });
});

describe('addresses', () => {
  const checksummed = '0xdAC17F958D2ee523a2206206994597C13D831ec7';

  test('an EVM address is accepted in one case or with a valid checksum, and returned checksummed', () => {
    for (const text of [checksummed, checksummed.toLowerCase(), `0x${checksummed.slice(2).toUpperCase()}`]) {
      expect(parseAddress(text)).toEqual({ family: 'evm', address: checksummed, hex: checksummed.toLowerCase() });
    }
  });

  test('one letter in the wrong case breaks the checksum', () => {
    expect(parseAddress(checksummed.replace('dAC', 'DAC'))).toBeNull();
  });

  test('a Tron address is base58check', () => {
    const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    const parsed = parseAddress(usdt);
    expect(parsed).toEqual({ family: 'tron', address: usdt, hex: '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c' });
    expect(parseAddress(usdt.replace('TR7', 'TR8'))).toBeNull();
    expect(parseAddress('T'.repeat(34))).toBeNull();
    expect(parseAddress('Tzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz')).toBeNull();
  });

  test.each(['', `x${checksummed}`, `${checksummed}00`, checksummed.slice(0, -1), checksummed.slice(2)])(
    '%j is no address',
    (text) => expect(parseAddress(text)).toBeNull(),
  );

  test.each(['0', 'O', 'I', 'l', ' '])('a Tron address with %j, which base58 lacks, is refused', (letter) => {
    const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
    expect(parseAddress(`${usdt.slice(0, 9)}${letter}${usdt.slice(10)}`)).toBeNull();
    expect(parseAddress(`${usdt.slice(0, -1)}${letter}`)).toBeNull();
  });

  // Twenty bytes of ff and of 00 after the version bytes 0x40 and 0x42, whose addresses also begin with T.
  test.each(['T9yD14Nj9j7xAB4dbGeiX9h8unkKB9nv2z', 'TZJozAg1ruapycCicgz31GxvYJ1G1qELV7'])(
    'a right checksum behind another version than Tron’s makes no address: %s',
    (text) => expect(parseAddress(text)).toBeNull(),
  );

  test('any 20 bytes can be written and read in both spellings', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), fc.constantFrom('evm', 'tron'), (bytes, family) => {
        const hex = `0x${Buffer.from(bytes).toString('hex')}`;
        expect(parseAddress(addressFromHex(family, hex))).toMatchObject({ family, hex });
      }),
    );
  });
});

describe('ids and secrets', () => {
  test('ids made later sort later', () => {
    expect(newId('pay', new Date(1_000)) < newId('pay', new Date(2_000))).toBe(true);
    expect(isId('pay', newId('pay'))).toBe(true);
    expect(isId('pay', newId('mer'))).toBe(false);
    expect(isId('pay', newId('pay').toUpperCase())).toBe(false);
  });

  test('secrets carry 256 bits behind their prefix', () => {
    expect(newSecret('qk')).toMatch(/^qk_[A-Za-z0-9_-]{43}$/);
    expect(newWebhookKey()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newPublicToken()).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });
});
