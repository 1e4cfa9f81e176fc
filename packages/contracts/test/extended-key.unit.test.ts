import { hash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { decodeBase58, encodeBase58, toBeHex } from 'ethers/utils';
import { deriveAddresses, type ExtendedKey, keyHash, parseExtendedKey } from '../src/extended-key.ts';
import { accountKey, byEthers, byScure, privateKey } from './extended-key-references.ts';

/** m/0'/1/2' of test vector 1 in BIP-32: the only one there of depth 3 in its first chain. */
const vector =
  'xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5';
const vectorPrivate =
  'xprv9z4pot5VBttmtdRTWfWQmoH1taj2axGVzFqSb8C9xaxKymcFzXBDptWmT7FwuEzG3ryjH4ktypQSAewRiNMjANTtpgP4mLTj34bhnZX7UiM';

const keyOf = (text: string): ExtendedKey => {
  const { key, problem } = parseExtendedKey(text);
  if (key === null) throw new Error(problem);
  return key;
};
const problemOf = (text: string) => parseExtendedKey(text).problem;

/** A key with other bytes at an offset, and the checksum that belongs to it. */
function changed(text: string, offset: number, bytes: number[]): string {
  const payload = Buffer.from(toBeHex(decodeBase58(text), 82).slice(2), 'hex').subarray(0, 78);
  const copy = Buffer.from(payload);
  copy.set(bytes, offset);
  const once = hash('sha256', copy, 'buffer');
  return encodeBase58(Buffer.concat([copy, hash('sha256', once, 'buffer').subarray(0, 4)]));
}

describe('addresses of an extended public key', () => {
  test('are those of public test vectors, on EVM networks and on Tron', () => {
    const first = { from: 0, count: 2 };
    expect(deriveAddresses(keyOf(accountKey('evm')), 'evm', first)).toEqual([
      '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
      '0x6Fac4D18c912343BF86fa7049364Dd4E424Ab9C0',
    ]);
    expect(deriveAddresses(keyOf(accountKey('tron')), 'tron', first)).toEqual([
      'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH',
      'TSeJkUh4Qv67VNFwY8LaAxERygNdy6NQZK',
    ]);
  });

  test.each(['evm', 'tron'] as const)('are those of two other implementations: %s', (family) => {
    const own = deriveAddresses(keyOf(accountKey(family)), family, { from: 0, count: 20 });
    expect(own).toEqual(byEthers(family, 20));
    expect(own).toEqual(byScure(accountKey(family), family, 20));
    expect(deriveAddresses(keyOf(accountKey(family)), family, { from: 7, count: 3 })).toEqual(own.slice(7, 10));
  });

  test('of the key of BIP-32 are those of another implementation', () => {
    expect(deriveAddresses(keyOf(vector), 'evm', { from: 0, count: 5 })).toEqual(byScure(vector, 'evm', 5));
  });

  test('of an index that needs the private key are an error', () => {
    for (const from of [-1, 2 ** 31, 0.5])
      expect(() => deriveAddresses(keyOf(vector), 'evm', { from, count: 1 })).toThrow('is no index');
  });
});

test('two spellings of one key have one hash, and other keys another', () => {
  const renamed = changed(vector, 5, [1, 2, 3, 4]);
  expect(renamed).not.toBe(vector);
  expect(keyHash(keyOf(renamed))).toEqual(keyHash(keyOf(vector)));
  expect(keyHash(keyOf(accountKey('evm')))).not.toEqual(keyHash(keyOf(vector)));
  expect(keyHash(keyOf(changed(vector, 13, [9])))).not.toEqual(keyHash(keyOf(vector)));
});

describe('refused, with a reason that does not repeat it, is', () => {
  const privateKeys = {
    'an xprv': vectorPrivate,
    'an xprv of an account': privateKey('evm'),
    'an xprv behind white space': ` \n${vectorPrivate}`,
    'an xprv with a wrong character': vectorPrivate.replace(/.$/, '0'),
    'a private key under the version of public ones': changed(vectorPrivate, 0, [0x04, 0x88, 0xb2, 0x1e]),
    'a private key under another version': changed(vectorPrivate, 0, [0x01, 0x02, 0x03, 0x04]),
    'a tprv': changed(vectorPrivate, 0, [0x04, 0x35, 0x83, 0x94]),
    'a yprv': changed(vectorPrivate, 0, [0x04, 0x9d, 0x78, 0x78]),
    'a zprv': changed(vectorPrivate, 0, [0x04, 0xb2, 0x43, 0x0c]),
    'a Zprv': changed(vectorPrivate, 0, [0x02, 0xaa, 0x7a, 0x99]),
  };
  test.each(Object.entries(privateKeys))('%s', (_, text) => {
    const { key, problem } = parseExtendedKey(text);
    expect(key).toBeNull();
    expect(problem).toContain('private key');
    expect(problem).not.toContain(text.trim().slice(8, 20));
  });

  test.each([
    ['a key of the test network', changed(vector, 0, [0x04, 0x35, 0x87, 0xcf]), 'main network'],
    ['a ypub', changed(vector, 0, [0x04, 0x9d, 0x7c, 0xb2]), 'ypub and zpub'],
    ['a zpub', changed(vector, 0, [0x04, 0xb2, 0x47, 0x46]), 'ypub and zpub'],
    ['the key of a coin, above the account', changed(vector, 4, [2]), 'not of depth 2'],
    ['the key of the receiving addresses, below the account', changed(vector, 4, [4]), 'not of depth 4'],
    ['a master key', changed(vector, 4, [0]), 'not of depth 0'],
    ['a key that is no point', changed(vector, 45, [2, ...Buffer.alloc(31), 5]), 'valid public key'],
    ['a key of another form', changed(vector, 45, [4]), 'valid public key'],
    ['a key with a wrong checksum', `${vector.slice(0, -1)}6`, 'missing or wrong'],
    ['a key without its last character', vector.slice(0, -1), 'missing or wrong'],
    ['a key with a character more', `${vector}1`, 'missing or wrong'],
    ['a key in hexadecimal', `0x${'ab'.repeat(78)}`, 'missing or wrong'],
    ['a mnemonic', 'abandon abandon about', 'missing or wrong'],
    ['nothing', '', 'missing or wrong'],
    ['a long text of the alphabet', 'z'.repeat(111), 'missing or wrong'],
  ])('%s', (_, text, problem) => expect(problemOf(text)).toContain(problem));
});
