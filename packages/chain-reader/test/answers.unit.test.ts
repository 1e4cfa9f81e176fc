import { describe, expect, test } from '@jest/globals';
import { parseBlock, parseLogs, parseReceipt, quantity } from '../src/rpc/answers.ts';
import { hashOf } from '@quittance/testkit/chain/samples.ts';

const rawBlock = {
  number: '0x7',
  hash: hashOf(7).toUpperCase().replace('0X', '0x'),
  parentHash: hashOf(6),
  timestamp: '0x65',
  logsBloom: `0x${'0'.repeat(512)}`,
  stateRoot: '0x',
  transactions: [],
};
const rawLog = {
  address: `0x${'AB'.repeat(20)}`,
  topics: [hashOf(1)],
  data: '0x',
  blockHash: hashOf(7),
  blockNumber: '0x7',
  transactionHash: hashOf(9),
  logIndex: '0x0',
  removed: false,
};

describe('a block', () => {
  test('is read from the fields we need, even when others are malformed, as on Tron', () => {
    expect(parseBlock(rawBlock)).toEqual({
      number: 7,
      hash: hashOf(7),
      parentHash: hashOf(6),
      timestamp: 101,
      logsBloom: `0x${'0'.repeat(512)}`,
      transactions: [],
    });
  });

  test('lists its transactions, even when a node sends them whole', () => {
    const transactions = [hashOf(0xa), { hash: hashOf(0xb), value: '0x0' }];
    expect(parseBlock({ ...rawBlock, transactions }).transactions).toEqual([hashOf(0xa), hashOf(0xb)]);
  });

  test.each([
    ['no object', null],
    ['a list', [rawBlock]],
    ['without number', { ...rawBlock, number: null }],
    ['with a decimal number', { ...rawBlock, number: 7 }],
    ['with a short hash', { ...rawBlock, hash: '0x12' }],
    ['with a hash that is not hex', { ...rawBlock, hash: `0x${'g'.repeat(64)}` }],
    ['with a short bloom', { ...rawBlock, logsBloom: '0x00' }],
    ['without transactions', { ...rawBlock, transactions: undefined }],
    ['with a transaction without hash', { ...rawBlock, transactions: [{}] }],
  ])('%s is refused', (_, value) => {
    expect(() => parseBlock(value)).toThrow(/invalid_answer/);
  });
});

describe('logs', () => {
  test('come back in lowercase', () => {
    expect(parseLogs([rawLog])[0]?.address).toBe(`0x${'ab'.repeat(20)}`);
  });

  test('of several contracts and blocks are read unchanged', () => {
    const other = {
      ...rawLog,
      address: `0x${'cd'.repeat(20)}`,
      topics: [hashOf(2)],
      blockHash: hashOf(8),
      blockNumber: '0x8',
    };
    const read = parseLogs([rawLog, rawLog, other, rawLog]);
    expect(read.map(({ address }) => address.slice(2, 4))).toEqual(['ab', 'ab', 'cd', 'ab']);
    expect(read.map(({ topics }) => topics[0])).toEqual([hashOf(1), hashOf(1), hashOf(2), hashOf(1)]);
    expect(read.map(({ blockHash }) => blockHash)).toEqual([hashOf(7), hashOf(7), hashOf(8), hashOf(7)]);
    expect(read.map(({ blockNumber }) => blockNumber)).toEqual([7, 7, 8, 7]);
  });

  test.each([
    ['null', null],
    ['an object', {}],
    ['a log taken back', [{ ...rawLog, removed: true }]],
    ['five topics', [{ ...rawLog, topics: Array.from({ length: 5 }, () => hashOf(1)) }]],
    ['a pending log', [{ ...rawLog, blockHash: null, blockNumber: null }]],
    ['data that is not hex', [{ ...rawLog, data: '0x0g' }]],
    ['data with a character that is no ASCII', [{ ...rawLog, data: '0x0\u0661' }]],
    ['a later log whose contract is missing', [rawLog, { ...rawLog, address: undefined }]],
    ['a later log with a malformed block', [rawLog, { ...rawLog, blockHash: `0x${'g'.repeat(64)}` }]],
    ['odd data', [{ ...rawLog, data: 'abc' }]],
  ])('%s are refused', (_, value) => {
    expect(() => parseLogs(value)).toThrow(/invalid_answer/);
  });
});

test('a receipt must show whether its transaction succeeded', () => {
  const receipt = { transactionHash: hashOf(9), blockHash: hashOf(7), blockNumber: '0x7', logs: [rawLog] };
  expect(parseReceipt({ ...receipt, status: '0x1' }).succeeded).toBe(true);
  expect(parseReceipt({ ...receipt, status: '0x0' }).succeeded).toBe(false);
  expect(() => parseReceipt(receipt)).toThrow(/invalid_answer/);
});

test('a receipt from before receipts had a status shows a state root instead', () => {
  const receipt = { transactionHash: hashOf(9), blockHash: hashOf(7), blockNumber: '0x7', logs: [rawLog] };
  expect(parseReceipt({ ...receipt, root: hashOf(1) }).succeeded).toBe(true);
  expect(parseReceipt({ ...receipt, root: hashOf(1), status: '0x0' }).succeeded).toBe(false);
  for (const root of [null, '0x', 'yes']) expect(() => parseReceipt({ ...receipt, root })).toThrow(/invalid_answer/);
});

test('a receipt whose events are unordered, repeated or of another transaction is refused, because positions would be wrong', () => {
  const receipt = { transactionHash: hashOf(9), blockHash: hashOf(7), blockNumber: '0x7', status: '0x1' };
  const [first, second] = [rawLog, { ...rawLog, logIndex: '0x5' }];
  expect(parseReceipt({ ...receipt, logs: [first, second] }).logs).toHaveLength(2);
  for (const logs of [
    [second, first],
    [first, first, second],
    [second, first, second],
    [{ ...first, transactionHash: hashOf(8) }, second],
  ])
    expect(() => parseReceipt({ ...receipt, logs })).toThrow(/invalid_answer/);
});

test('a height that a JavaScript number cannot hold exactly is refused', () => {
  expect(quantity('0x1fffffffffffff', 'height')).toBe(Number.MAX_SAFE_INTEGER);
  expect(() => quantity('0x20000000000000', 'height')).toThrow(/invalid_answer/);
});
