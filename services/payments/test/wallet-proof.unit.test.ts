import { describe, expect, test } from '@jest/globals';
import { computeAddress } from 'ethers/transaction';
import { Wallet } from 'ethers/wallet';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { checkSignature, textToSign } from '../src/wallets/prove.ts';
import { signTron } from './wallet-signing.ts';

const owner = new Wallet(`0x${'11'.repeat(32)}`);
const stranger = new Wallet(`0x${'22'.repeat(32)}`);
const statement = {
  deployment: 'https://pay.example',
  merchantId: `mer_${'a'.repeat(32)}`,
  address: owner.address,
  nonce: '0123456789abcdef',
  endsAt: new Date('2026-11-24T12:00:00Z'),
};
const text = textToSign(statement);

test('the text names deployment, merchant, address, nonce and end, and is one line', () => {
  for (const part of [
    'https://pay.example',
    statement.merchantId,
    owner.address,
    '0123456789abcdef',
    '2026-11-24T12:00:00.000Z',
  ])
    expect(text).toContain(part);
  expect(text).not.toMatch(/[\r\n]/);
});

describe('an EVM signature', () => {
  test('of the key of the address is valid, however it is written', async () => {
    const signature = await owner.signMessage(text);
    const zeroOrOne = signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01');
    const written = [
      signature,
      signature.slice(2),
      signature.toUpperCase().replace('0X', '0x'),
      ` ${signature}\n`,
      zeroOrOne,
    ];
    for (const one of written) expect(checkSignature(text, owner.address, one)).toBe('valid');
  });

  test('of another key, or over another text, is not', async () => {
    expect(checkSignature(text, owner.address, await stranger.signMessage(text))).toBe('other_key');
    const others: Partial<typeof statement>[] = [
      { deployment: 'https://pay.other' },
      { merchantId: `mer_${'b'.repeat(32)}` },
      { address: stranger.address },
      { nonce: 'ffff' },
      { endsAt: new Date('2026-11-25T12:00:00Z') },
    ];
    for (const change of others) {
      const signature = await owner.signMessage(textToSign({ ...statement, ...change }));
      expect(checkSignature(text, owner.address, signature)).toBe('other_key');
    }
  });

  test('over the text with a line break at its end is not', async () => {
    expect(checkSignature(text, owner.address, await owner.signMessage(`${text}\n`))).toBe('other_key');
  });

  test.each([
    '',
    '0x',
    'yes',
    `0x${'00'.repeat(64)}`,
    `0x${'00'.repeat(65)}`,
    `0x${'ff'.repeat(65)}`,
    `0x${'11'.repeat(66)}`,
  ])('that is malformed, %s, is refused without an error', (signature) => {
    expect(checkSignature(text, owner.address, signature)).not.toBe('valid');
  });
});

describe("Tron's signature", () => {
  const address = addressFromHex('tron', computeAddress(owner.privateKey));

  /** Made with TronWeb 6.5.1: signMessageV2(text), and sign(hex of the text), for the key 0x1111… */
  const made = {
    text: 'Quittance wallet proof ✓ for mer_1',
    address: 'TCLBgkbfVkJroVBJVqBEsxtPNQEQMTQCLQ',
    v2: '0xd74e5c6920abc146909ed48895828a1fb2eee8879f22c6b3dcf9f1477bd5918904b991bc61aafe917e64c5baf915c02213617c8332e50d64a0dc5f89572d369e1b',
    older:
      '0x6dbf2af58b2d3304ce5332f4e6006968fdde9dba267f5395be29b760abaa3e8234c9c05012f6e6c4333c14876306f56acaed476945daa63d234a552dc69c8a6e1c',
  };

  test.each(['v2', 'older'] as const)('as TronWeb makes it, %s, is valid for its address and no other text', (form) => {
    expect(made.address).toBe(address);
    expect(checkSignature(made.text, address, made[form])).toBe('valid');
    expect(checkSignature(`${made.text}.`, address, made[form])).toBe('other_key');
    const other = addressFromHex('tron', stranger.address);
    expect(checkSignature(made.text, other, made[form])).toBe('other_key');
  });

  test('proves no EVM address of the same key, nor the reverse', async () => {
    expect(checkSignature(text, owner.address, signTron(owner, text))).toBe('other_key');
    expect(checkSignature(text, address, await owner.signMessage(text))).toBe('other_key');
  });
});
