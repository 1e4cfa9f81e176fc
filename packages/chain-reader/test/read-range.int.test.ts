import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readLogsByHash, requireLinked } from '../src/chain/read-blocks.ts';
import { matchRange, readRange } from '../src/chain/read-range.ts';
import { readBlockAt } from '../src/rpc/reads.ts';
import { onBlocks, onLogs, startReading, type RawFilter, type RawLog, type Reading } from './reading.ts';

const isRange = ({ fromBlock, toBlock }: RawFilter) => fromBlock !== undefined && fromBlock !== toBlock;
const heightOf = (log: RawLog) => Number(log.blockNumber);

let reading: Reading;
/** The first block of the range. Each of its 40 blocks has one transfer, except three empty ones at the end. */
let from: number;
let to: number;
/** Is paid in the fifth block of the range. */
let wallet: string;

beforeAll(async () => {
  reading = await startReading();
  const { chain } = reading;
  wallet = newWallet();
  from = (await reading.head()).number + 1;
  for (let block = 0; block < 40; block += 1) await chain.transfer(block === 4 ? wallet : newWallet(), 7n);
  await chain.mine(3);
  to = from + 42;
});
afterAll(() => reading.close());
afterEach(() => {
  reading.node.spoil(null);
  reading.node.lag(0);
});

const mine = () => new Set([wallet.toLowerCase()]);
const readAll = (wallets: string[] | null = null, last = to) =>
  reading.readWithCost(async (rpc) => {
    const range = await readRange(rpc, reading.network, from, last, wallets);
    return { range, transfers: await matchRange(rpc, reading.network, range, mine()) };
  });
const failure = async (wallets: string[] | null = null) => {
  try {
    await readAll(wallets);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the reading was believed');
};

describe('a whole range', () => {
  test('takes one round trip, one for the blocks without events, and one for the receipts', async () => {
    const { answer, requests, calls } = await readAll();
    expect(answer.range).toMatchObject({ first: { number: from }, last: { number: to } });
    expect(answer.range.entries.map(({ block }) => block.number)).toEqual(
      Array.from({ length: 40 }, (_, offset) => from + offset),
    );
    expect(answer.transfers).toMatchObject([{ to: wallet.toLowerCase(), blockNumber: from + 4, amountUnits: 7n }]);
    expect(answer.transfers[0]!.blockTimestamp).toBeGreaterThan(0);
    // First, last and logs; two empty blocks; the matched block and its receipt.
    expect(calls.length).toBe(3 + 2 + 2);
    expect(requests).toBe(3);
  });

  test('takes a single round trip when every block shows events and none is ours', async () => {
    const { requests, calls } = await reading.readWithCost((rpc) =>
      readRange(rpc, reading.network, from, from + 30, null),
    );
    expect([requests, calls.length]).toEqual([1, 3]);
  });

  test('of a single block is read, too', async () => {
    const { answer, calls } = await readAll(null, from);
    expect(calls.length).toBe(2);
    expect(answer.range).toMatchObject({ first: { number: from }, last: { number: from }, entries: [{}] });
  });

  test.each<[string, (logs: RawLog[], filter: RawFilter) => unknown, RegExp]>([
    ['nothing at all', () => [], /invalid_answer: events are missing/],
    ['nothing of the range', (logs, filter) => (isRange(filter) ? [] : logs), /invalid_answer: the events of a block/],
    [
      'nothing of one block',
      (logs, filter) => (isRange(filter) ? logs.filter((log) => heightOf(log) !== from + 4) : logs),
      /invalid_answer: the events of a block are missing/,
    ],
    [
      'only as much as its limit, without saying so',
      (logs, filter) => (isRange(filter) ? logs.slice(0, 25) : logs),
      /range: the events of a block are missing/,
    ],
    [
      'a log of a block outside its chain',
      (logs) => logs.map((log) => (heightOf(log) === from + 4 ? { ...log, blockHash: `0x${'1'.repeat(64)}` } : log)),
      /invalid_answer: a log of a block outside the chain/,
    ],
    ['one event twice', (logs) => [...logs, ...logs.slice(0, 1)], /invalid_answer: two logs at the same place/],
    [
      'logs of two blocks at one height',
      (logs) => [...logs, { ...logs[0], blockHash: `0x${'1'.repeat(64)}` }],
      /invalid_answer: logs of two blocks/,
    ],
  ])('for which a node shows %s is not believed', async (_, change, message) => {
    reading.node.spoil(onLogs(change));
    expect(await failure()).toMatch(message);
  });

  test('without events or headers that prove that is checked against the receipts', async () => {
    const blank = onBlocks(() => ({ logsBloom: `0x${'0'.repeat(512)}` }));
    const silent = onLogs(() => []);
    reading.node.spoil((call, answer) => blank(call, answer) ?? silent(call, answer));
    expect(await failure()).toMatch(/invalid_answer: a receipt has an event that is missing/);
    reading.node.spoil((call, answer) =>
      call.method === 'eth_getBlockReceipts'
        ? { result: undefined, error: { code: -32601, message: 'the method does not exist' } }
        : (blank(call, answer) ?? silent(call, answer)),
    );
    expect(await failure()).toMatch(/invalid_answer: a receipt has an event that is missing/);
  });

  test('whose answer has as many events as a typical limit is requested in smaller parts', async () => {
    reading.node.spoil(
      onLogs((logs) =>
        Array.from({ length: 1_000 }, (_, position) => ({ ...logs[0], logIndex: `0x${position.toString(16)}` })),
      ),
    );
    expect(await failure()).toMatch(/range: 1000 logs look like an answer that was cut off/);
  });

  test('is not believed when its blocks are not linked, or go back in time', async () => {
    const at = (height: number, changes: object) =>
      onBlocks((block) => (Number(block['number']) === height ? { ...changes } : {}));
    reading.node.spoil(at(to - 1, { parentHash: `0x${'1'.repeat(64)}` }));
    expect(await failure()).toMatch(/invalid_answer: blocks that do not form a chain/);
    reading.node.spoil(at(to - 2, { parentHash: `0x${'1'.repeat(64)}` }));
    expect(await failure()).toMatch(/invalid_answer: blocks that do not form a chain/);
    reading.node.spoil(at(to - 1, { timestamp: '0x1' }));
    expect(await failure()).toMatch(/invalid_answer: a block that is older/);
  });

  test('is not believed when the node does not have its last block', async () => {
    reading.node.lag(2);
    expect(await failure()).toMatch(/unknown_block/);
  });

  test('whose matched block is not in the chain is not believed', async () => {
    reading.node.spoil(
      onBlocks((block) => (Number(block['number']) === from + 4 ? { hash: `0x${'1'.repeat(64)}` } : {})),
    );
    expect(await failure()).toMatch(/invalid_answer: a log of a block outside the chain/);
  });
});

test('a block whose events are of another height is not believed', async () => {
  const above = (log: RawLog) => ({ ...log, blockNumber: `0x${(heightOf(log) + 1).toString(16)}` });
  reading.node.spoil(onLogs((logs) => logs.map(above)));
  const reads = reading.read(async (rpc) => {
    const blocks = requireLinked([await readBlockAt(rpc, from)]);
    return readLogsByHash(rpc, reading.network, blocks);
  });
  await expect(reads).rejects.toThrow(/invalid_answer: an event with a different height than its block/);
});

test.each([
  ['older than the range', -86_400],
  ['newer than the range', 3_600],
])('a range in which a block with a transfer is %s is not believed', async (_, seconds) => {
  const moved = (time: unknown) => `0x${(Number(time) + seconds).toString(16)}`;
  reading.node.spoil(
    onBlocks((block) => (Number(block['number']) === from + 4 ? { timestamp: moved(block['timestamp']) } : {})),
  );
  expect(await failure()).toMatch(/invalid_answer: a block that is older than one before it/);
});

describe('a range that a node refuses at any size', () => {
  const refusing =
    (code: number, message: string) =>
    ({ method }: Call): Partial<Answer> | undefined =>
      method === 'eth_getLogs' ? { result: undefined, error: { code, message } } : undefined;

  test.each([
    ['range', -32005, 'query returned more than 10000 results'],
    ['unsupported', -32701, 'Please specify an address in your request'],
    ['unsupported', -32099, 'not today'],
  ])('is refused as %s (%d) while it is large, and read from receipts when it is small', async (kind, code, text) => {
    reading.node.spoil(refusing(code, text));
    expect(await failure()).toMatch(new RegExp(`^${kind}: `));
    const { answer } = await readAll(null, from + 7);
    expect(answer.transfers).toMatchObject([{ to: wallet.toLowerCase(), blockNumber: from + 4 }]);
    expect(answer.range.entries).toHaveLength(8);
    const { answer: alone } = await readAll(null, from);
    expect(alone.range).toMatchObject({ first: { number: from }, last: { number: from }, entries: [{}] });
  });
});

describe('a range for only a few wallets', () => {
  const wallets = () => [wallet.toLowerCase()];

  test("is read by wallet, and other wallets' transfers prove that the answer is complete", async () => {
    const { answer, requests, calls } = await readAll(wallets());
    expect(answer.transfers).toMatchObject([{ to: wallet.toLowerCase(), blockNumber: from + 4 }]);
    // Eight blocks that are read completely; the query with the last block; and the match.
    expect(calls.length).toBe(16 + 2 + 2);
    expect(requests).toBe(3);
    const asked = calls.filter(({ method }) => method === 'eth_getLogs').map(({ params }) => params[0] as RawFilter);
    expect(asked.filter(isRange)).toHaveLength(1);
    expect((asked.find(isRange)!.topics![2] as string[]).length).toBeGreaterThan(1);
  });

  test.each<[string, (logs: RawLog[], filter: RawFilter) => unknown, RegExp]>([
    ['has pruned its history', () => [], /invalid_answer: events are missing/],
    [
      'has pruned the older half',
      (logs) => logs.filter((log) => heightOf(log) > from + 20),
      /invalid_answer: (events are missing|the events of a block are missing)/,
    ],
    [
      'has a hole in its index',
      (logs, filter) => (isRange(filter) ? [] : logs),
      /invalid_answer: a transfer that the node has/,
    ],
    [
      'has a hole in the middle of its index',
      (logs, filter) => (isRange(filter) ? logs.filter((log) => Math.abs(heightOf(log) - from - 18) > 3) : logs),
      /invalid_answer: a transfer that the node has is missing/,
    ],
  ])('is not believed when the node %s', async (_, change, message) => {
    reading.node.spoil(onLogs(change));
    expect(await failure(wallets())).toMatch(message);
  });

  test('without any transfer is read completely, so that nothing is assumed', async () => {
    const { chain } = reading;
    const start = (await reading.head()).number + 1;
    await chain.mine(40);
    const empty = () => reading.readWithCost((rpc) => readRange(rpc, reading.network, start, start + 39, wallets()));
    const { answer, calls } = await empty();
    expect(answer.entries).toEqual([]);
    expect(calls.filter(({ method }) => method === 'eth_getBlockByNumber').length).toBeGreaterThanOrEqual(40);
    // A header between the completely read blocks shows that the node hides something.
    reading.node.spoil(
      onBlocks((block) => (Number(block['number']) === start + 3 ? { logsBloom: `0x${'f'.repeat(512)}` } : {})),
    );
    await expect(empty()).rejects.toThrow(/invalid_answer: events are missing/);
  });

  test('needs no such proof when it is short, because everything is read', async () => {
    const { answer, calls } = await readAll(wallets(), from + 9);
    expect(answer.transfers).toHaveLength(1);
    expect(calls.length).toBe(3 + 2);
  });
});
