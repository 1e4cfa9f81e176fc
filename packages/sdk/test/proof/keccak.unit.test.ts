import { expect, test } from '@jest/globals';
import { keccak256 as reference } from 'ethers/crypto';
import { hexOf } from '../../src/proof/hex.ts';
import { keccak256 } from '../../src/proof/keccak.ts';

// Three blocks of 136 bytes, so that every padding occurs.
const LONGEST = 3 * 136;

test('hashes every length as another implementation does', () => {
  for (let length = 0; length <= LONGEST; length += 1) {
    const data = Uint8Array.from({ length }, (_, at) => (at * 151 + length * 37) % 256);
    expect([length, hexOf(keccak256(data))]).toEqual([length, reference(data)]);
  }
});

test('hashes as the Keccak team published', () => {
  const empty = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
  expect(hexOf(keccak256(new Uint8Array()))).toBe(`0x${empty}`);
});
