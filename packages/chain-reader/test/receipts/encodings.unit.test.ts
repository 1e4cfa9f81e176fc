import { readFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { keccak256 } from 'ethers/crypto';
import { encodeRlp as referenceRlp } from 'ethers/utils';
import { headerBytes, provenHeader } from '../../src/receipts/header.ts';
import { receiptBytes } from '../../src/receipts/receipt.ts';
import { data, encodeRlp, quantity } from '../../src/receipts/rlp.ts';
import { receiptsTrie } from '../../src/receipts/trie.ts';
import { fieldsOfFork, makeBlock, makeReceipt, word } from './synthetic-blocks.ts';
import { proofVectors } from './vectors.ts';

const token = `0x${'11'.repeat(20)}`;
const bloom = `0x${'00'.repeat(256)}`;

test('docs/vectors/payment-proofs.json is what these blocks make; write-vectors.ts writes it', async () => {
  const text = await readFile(new URL('../../../../docs/vectors/payment-proofs.json', import.meta.url), 'utf8');
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(proofVectors())));
});

test('RLP is that of another implementation, for each form of length', () => {
  const sizes = [0, 1, 2, 55, 56, 255, 256, 70_000];
  const items = sizes.map((size) => Buffer.alloc(size, 0xab));
  for (const item of [...items, Buffer.from([0x7f]), Buffer.from([0x80]), items, [[], [items]]])
    expect(`0x${encodeRlp(item).toString('hex')}`).toBe(referenceRlp(hexOf(item)));
});

type Nested = Buffer | Nested[];
type NestedHex = string | NestedHex[];
const hexOf = (item: Nested): NestedHex => (Buffer.isBuffer(item) ? `0x${item.toString('hex')}` : item.map(hexOf));

describe('a header', () => {
  const { header } = makeBlock('any', {}, []);
  const lengthWith = (fields: object): number => {
    const first = headerBytes({ ...header, ...fields });
    // A list of more than 255 bytes begins with 0xf9 and its size in two bytes.
    return first.readUInt16BE(1);
  };

  test.each([
    ['London', fieldsOfFork.london, 1],
    ['Cancun', fieldsOfFork.cancun, 5 + 33 + 4 + 1 + 33],
    ['Prague', fieldsOfFork.prague, 1 + 33 + 1 + 1 + 33 + 33],
    ['Granite, on Avalanche', fieldsOfFork.granite, 33 + 1 + 1 + 1 + 1 + 1 + 33 + 7 + 4],
  ])('has the fields of %s behind those of every header', (_, fields, size) => {
    expect(lengthWith(fields) - lengthWith({})).toBe(size);
  });

  test('leaves out what the node adds to its answer', () => {
    const { london } = fieldsOfFork;
    expect(
      lengthWith({ ...london, totalDifficulty: '0x1', size: '0x2', milliTimestamp: '0x3', l1BlockNumber: '0x4' }),
    ).toBe(lengthWith(london));
  });

  test('is found in the answer of a later fork too, in whatever order that appends fields', () => {
    const later = { ...header, ...fieldsOfFork.prague, slotNumber: '0x7', blockAccessListHash: word('access list') };
    const bytes = headerBytes(later, [
      ['blockAccessListHash', data],
      ['slotNumber', quantity],
    ]);
    expect(provenHeader({ ...later, size: '0x9', hash: keccak256(bytes) })).toEqual(bytes);
    expect(provenHeader({ ...later, number: '0x1', hash: keccak256(bytes) })).toBeNull();
    expect(provenHeader({ ...later, mixHash: undefined, hash: keccak256(bytes) })).toBeNull();
    expect(provenHeader({ ...later, gasUsed: 'much', hash: keccak256(bytes) })).toBeNull();
  });

  test.each(['receiptsRoot', 'mixHash', 'number'])('cannot be made of an answer without %s', (field) => {
    expect(() => headerBytes({ ...header, [field]: undefined })).toThrow(new TypeError(`the block has no ${field}`));
  });
});

describe('a receipt', () => {
  const plain = { status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: bloom, logs: [] };
  const list = (...more: Buffer[]): string =>
    encodeRlp([Buffer.from([1]), quantity('0x5208'), data(bloom), [], ...more]).toString('hex');

  test.each([
    ['of the first kind has no type', {}, list()],
    ['of a blob transaction begins with it', { type: '0x3' }, `03${list()}`],
    ['of a deposit before Canyon leaves out its nonce', { type: '0x7e', depositNonce: '0x9' }, `7e${list()}`],
    [
      'of a deposit from Canyon on ends with nonce and version',
      { type: '0x7e', depositNonce: '0x9', depositReceiptVersion: '0x1' },
      `7e${list(Buffer.from([9]), Buffer.from([1]))}`,
    ],
    [
      'of Celo ends with the base fee, in another currency',
      { type: '0x7b', baseFee: '0x9' },
      `7b${list(Buffer.from([9]))}`,
    ],
    ['of another type has no base fee, whatever the node answers', { type: '0x2', baseFee: '0x9' }, `02${list()}`],
  ])('%s', (_, more, expected) => {
    expect(receiptBytes({ ...plain, ...more }).toString('hex')).toBe(expected);
  });

  test('of before Byzantium has a root in place of the status', () => {
    const [before, failed] = [{ status: null, root: word('state') }, { status: '0x0' }].map((more) =>
      receiptBytes({ ...plain, ...more }),
    );
    expect(before?.subarray(3, 36)).toEqual(encodeRlp(data(word('state'))));
    expect(failed?.[3]).toBe(0x80);
  });
});

describe('the receipts trie', () => {
  // Blocks with one deposit each, and their roots as the chain has them. Source: op-reth's tests of its receipts root.
  test.each([
    [863_731, '0xf9f5', '0xd2df2', '0x3c715dd96d2597ccd46fde046da5e4b13e0a5b7d0a2ff60c3ee6c92fee9600ea'],
    [549_192, '0xccfd', '0x86147', '0xdbf9def3e8d930433596aa91b3ad3279652031ca45b1a3ca92785703f84aa6b0'],
    [697_672, '0xc545', '0xaa547', '0x0e7c255df3e2b7ca4d55b82047531f7f3e7437ab1eb33e22eca70653c874982d'],
  ])('has the root of block %i of Manta Sepolia, from before Canyon', (_, cumulativeGasUsed, depositNonce, root) => {
    const deposit = { type: '0x7e', status: '0x1', cumulativeGasUsed, logsBloom: bloom, logs: [], depositNonce };
    expect(receiptsTrie([receiptBytes(deposit)]).root).toBe(root);
  });

  test('of no receipts has the root that every chain names for it', () => {
    expect(receiptsTrie([]).root).toBe('0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421');
  });

  test('changes its root with each receipt and with their order', () => {
    const receipts = Array.from({ length: 130 }, (_, index) => receiptBytes(makeReceipt(index, token, [])));
    const { root } = receiptsTrie(receipts);
    for (const index of [0, 1, 15, 16, 127, 128]) {
      const others = receipts.toSpliced(index, 1);
      expect(receiptsTrie(others).root).not.toBe(root);
      expect(receiptsTrie([...others, receipts[index] as Buffer]).root).not.toBe(root);
    }
  });
});
