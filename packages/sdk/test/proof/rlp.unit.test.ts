import { expect, test } from '@jest/globals';
import { encodeRlp } from 'ethers/utils';
import { bytesOf, hexOf } from '../../src/proof/hex.ts';
import { decodeRlp, type Rlp } from '../../src/proof/rlp.ts';

type Hex = string | Hex[];

const asHex = (item: Rlp): Hex => (item instanceof Uint8Array ? hexOf(item) : item.map(asHex));

const long = `0x${'ab'.repeat(300)}`;
const samples: Hex[] = ['0x', '0x00', '0x7f', '0x80', `0x${'01'.repeat(55)}`, `0x${'01'.repeat(56)}`, long];

test.each<Hex>([...samples, [], samples, [samples, [[]], long]])(
  'decodes what another implementation encodes: %j',
  (item) => {
    expect(asHex(decodeRlp(bytesOf(encodeRlp(item))))).toEqual(item);
  },
);

test.each(['0x', '0x81', '0xb8', '0xb801', '0xb90001', '0xc1', '0xc281', '0xc28180ff', '0x8000', '0xf8'])(
  'refuses bytes that are not one item: %s',
  (text) => {
    expect(() => decodeRlp(bytesOf(text))).toThrow(RangeError);
  },
);
