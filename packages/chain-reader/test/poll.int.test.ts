import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Answer, Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readBlocksAt } from '../src/rpc/reads.ts';
import {
  poll,
  onBlocks,
  onLogs,
  payAllInOneBlock,
  startReading,
  transfersOf,
  type RawLog,
  type Reading,
} from './reading.ts';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
  await reading.chain.mine(20);
});
afterAll(() => reading.close());
afterEach(() => {
  reading.node.spoil(null);
  reading.node.refuse(null);
  reading.node.lag(0);
});

const headNumber = async () => (await reading.head()).number;
/** A chain that is scanned up to the head, and one poll of the blocks since then. */
async function pollAfter(happens: () => Promise<unknown>, wallets: string[] = []) {
  const local = await reading.scannedTo(await headNumber());
  await happens();
  return reading.readWithCost((rpc) => poll(rpc, reading.pollContext(local, wallets)));
}

describe('a poll near the head', () => {
  test('that finds nothing new is one small request', async () => {
    const { answer, requests, calls } = await pollAfter(async () => undefined);
    expect(answer.kind).toBe('no_new_blocks');
    expect([requests, calls.length]).toEqual([1, 1]);
  });

  test('needs three round trips to a transfer, or two when none is ours', async () => {
    const wallet = newWallet();
    const paid = await pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    expect(transfersOf(paid.answer)).toMatchObject([{ amountUnits: 5n, transactionEventIndex: 0 }]);
    expect(paid.requests).toBe(3);
    const { requests, calls } = await pollAfter(() => reading.chain.transfer(newWallet(), 5n), [wallet]);
    expect(requests).toBe(2);
    // The head, which is the block; the final block; and the events, of which one proves that the node has its block.
    expect(calls.map(({ method }) => method)).toEqual(['eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_getLogs']);
  });

  test('finds the transfers of all blocks since the last poll', async () => {
    const wallet = newWallet();
    const seen = await pollAfter(async () => {
      for (const units of [1n, 2n, 3n, 4n]) await reading.chain.transfer(wallet, units);
    }, [wallet]);
    expect(transfersOf(seen.answer).map(({ amountUnits }) => amountUnits)).toEqual([1n, 2n, 3n, 4n]);
  });

  test('does not believe an empty answer that the headers do not prove', async () => {
    const blank = onBlocks(() => ({ logsBloom: `0x${'0'.repeat(512)}` }));
    const silent = onLogs(() => []);
    reading.node.spoil((call, answer) => blank(call, answer) ?? silent(call, answer));
    const wallet = newWallet();
    const polling = pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    await expect(polling).rejects.toThrow(/invalid_answer: a receipt has an event that is missing/);
  });

  test('does not believe a block that is older than the one before it', async () => {
    reading.node.spoil(null);
    const local = await reading.scannedTo(await headNumber());
    await reading.chain.mine(1);
    reading.node.spoil(onBlocks(() => ({ timestamp: '0x1' })));
    const polling = reading.read((rpc) => poll(rpc, reading.pollContext(local)));
    await expect(polling).rejects.toThrow(/invalid_answer: a block that is older/);
  });

  test('asks for ranges when we are far behind, and reads block by block when no block is final', async () => {
    const local = await reading.scannedTo(5, 3);
    await reading.chain.mine(200);
    const head = await headNumber();
    const from = reading.pollContext(local);
    expect(await reading.read((rpc) => poll(rpc, from))).toEqual({
      kind: 'needs_catch_up',
      head,
      finalized: { height: head - 64, isNamed: true },
    });
    reading.node.spoil((call) =>
      call.params[0] === 'finalized'
        ? { result: undefined, error: { code: -32602, message: 'invalid block tag' } }
        : undefined,
    );
    const network = { ...reading.network, confirmations_without_finalized: 128 };
    expect(await reading.read((rpc) => poll(rpc, { ...from, network }))).toEqual({
      kind: 'needs_catch_up',
      head,
      finalized: { height: head - 127, isNamed: false },
    });
    for (const context of [from, { ...from, network, hasNamedFinal: true }]) {
      const seen = await reading.read((rpc) => poll(rpc, context));
      expect(seen).toMatchObject({ kind: 'blocks', head, finalized: null, blocksToStore: { length: 32 } });
    }
  });

  test.each<[string, Partial<Answer>]>([
    ['null', { result: null }],
    ['that it knows no such block', { result: undefined, error: { code: -39001, message: 'Unknown block' } }],
    ['that it has none', { result: undefined, error: { code: -39001, message: 'finalized block not found' } }],
    ['an error of no known words', { result: undefined, error: { code: -32603, message: 'boom' } }],
    ['a block without a number', { result: { hash: '0x1' } }],
  ])('reads new blocks from a node that answers %s for the final one', async (_, answer) => {
    reading.node.spoil((call) => (call.params[0] === 'finalized' ? answer : undefined));
    const seen = await pollAfter(() => reading.chain.mine(2));
    expect(seen.answer).toMatchObject({ kind: 'blocks', finalized: null, blocksToStore: [{}, {}] });
  });
});

describe('many transfers in one block', () => {
  const wallets = Array.from({ length: 12 }, () => newWallet());
  const receiptCalls = (calls: readonly { method: string }[]) =>
    calls.map(({ method }) => method).filter((method) => method.endsWith('Receipt') || method.endsWith('Receipts'));

  test('need one request for all their receipts', async () => {
    const { answer, calls } = await pollAfter(() => payAllInOneBlock(reading.chain, wallets, 3n), wallets);
    expect(transfersOf(answer)).toHaveLength(12);
    expect(receiptCalls(calls)).toEqual(['eth_getBlockReceipts']);
  });

  test('are requested one by one if the node does not offer that, which is detected once', async () => {
    reading.node.spoil((call) =>
      call.method === 'eth_getBlockReceipts'
        ? { result: undefined, error: { code: -32601, message: 'the method eth_getBlockReceipts does not exist' } }
        : undefined,
    );
    const local = await reading.scannedTo(await headNumber());
    await payAllInOneBlock(reading.chain, wallets, 3n);
    await reading.read(async (rpc) => {
      for (const times of [1, 0]) {
        const before = reading.node.calls().length;
        expect(transfersOf(await poll(rpc, reading.pollContext(local, wallets)))).toHaveLength(12);
        const asked = receiptCalls(reading.node.calls().slice(before));
        expect(asked.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(times);
        expect(asked).toHaveLength(12 + times);
      }
    });
  });

  type RawReceipt = Record<string, unknown>;
  const onBlockReceipts =
    (change: (receipts: RawReceipt[]) => unknown) =>
    (call: Call, answer: Answer): Partial<Answer> | undefined =>
      call.method === 'eth_getBlockReceipts' ? { result: change(answer.result as RawReceipt[]) } : undefined;

  test.each<[string, (receipts: RawReceipt[]) => unknown, number]>([
    ['leave one out', (receipts) => receipts.slice(1), 1],
    ['are none at all', () => [], 12],
  ])('whose receipts together %s are requested one by one if one is missing', async (_, change, singles) => {
    reading.node.spoil(onBlockReceipts(change));
    const { answer, calls } = await pollAfter(() => payAllInOneBlock(reading.chain, wallets, 3n), wallets);
    expect(transfersOf(answer)).toHaveLength(12);
    expect(receiptCalls(calls)).toHaveLength(1 + singles);
  });

  test.each<[string, (call: Call, answer: Answer) => Partial<Answer> | undefined]>([
    [
      'leave one out, and the node lacks it alone as well',
      (call, answer) =>
        call.method === 'eth_getTransactionReceipt'
          ? { result: null }
          : onBlockReceipts((receipts) => receipts.slice(1))(call, answer),
    ],
    [
      'are of another block',
      onBlockReceipts((receipts) => receipts.map((one) => ({ ...one, blockHash: `0x${'1'.repeat(64)}` }))),
    ],
  ])('are not believed when their receipts %s', async (_, change) => {
    reading.node.spoil(change);
    const polling = pollAfter(() => payAllInOneBlock(reading.chain, wallets, 3n), wallets);
    await expect(polling).rejects.toThrow(/invalid_answer/);
  });
});

describe('a block whose events are refused', () => {
  const wallet = newWallet();
  const refusing =
    (error: Answer['error']) =>
    ({ method }: Call): Partial<Answer> | undefined =>
      method === 'eth_getLogs' ? { result: undefined, error: error! } : undefined;
  const tooMany = refusing({ code: -32005, message: 'query returned more than 10000 results' });

  test.each([
    ['for their number', -32005, 'query returned more than 10000 results'],
    ['for want of an address', -32701, 'Please specify an address in your request'],
    ['because the method is not offered', -32601, 'the method eth_getLogs does not exist/is not available'],
    ['because the plan has none', -32052, 'API key is not allowed to access this method'],
    ['for the time they take', -32002, 'request timed out'],
    ['in words that nobody knows', -32099, 'not today'],
  ])('%s is read from its receipts', async (_, code, message) => {
    reading.node.spoil(refusing({ code, message }));
    const { answer } = await pollAfter(async () => {
      await reading.chain.transfer(wallet, 5n);
      await reading.chain.transfer(newWallet(), 6n);
    }, [wallet]);
    expect(transfersOf(answer)).toMatchObject([{ to: wallet.toLowerCase(), amountUnits: 5n }]);
    expect(answer).toMatchObject({ blocksToStore: [{}, {}] });
  });

  test('silently, because the answer is cut off at a round number, is read from its receipts', async () => {
    reading.node.spoil(
      onLogs((logs) => {
        const other = { ...logs[0]!, topics: (logs[0]!['topics'] as unknown[]).slice(0, 2) };
        return Array.from({ length: 1_000 }, (_, place) => ({ ...other, logIndex: `0x${place.toString(16)}` }));
      }),
    );
    const { answer } = await pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    expect(transfersOf(answer)).toMatchObject([{ amountUnits: 5n }]);
  });

  test('together with its header, because the answer is too large, is read from its receipts', async () => {
    reading.node.refuse((calls) =>
      calls.some(({ method }) => method === 'eth_getLogs')
        ? { status: 200, body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32003,"message":"response too large"}}' }
        : undefined,
    );
    const { answer } = await pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    expect(transfersOf(answer)).toHaveLength(1);
  });

  test('is not believed when its receipts do not explain its header', async () => {
    reading.node.spoil((call, answer) =>
      call.method.startsWith('eth_getTransactionReceipt')
        ? { result: { ...(answer.result as object), logs: [] } }
        : tooMany(call),
    );
    const polling = pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    await expect(polling).rejects.toThrow(/invalid_answer: a block's receipts lack some of its events/);
  });

  test('is not read from receipts when the node only limits our rate', async () => {
    reading.node.spoil(refusing({ code: 429, message: 'Too Many Requests' }));
    const polling = pollAfter(() => reading.chain.transfer(wallet, 5n), [wallet]);
    await expect(polling).rejects.toThrow(/rate_limit/);
  });
});

describe('two nodes behind one address, one of which is late', () => {
  const lacks = (method: string, from: number) => (call: Call, answer: Answer) =>
    call.method === method && Number((answer.result as { number?: string } | null)?.number) >= from
      ? { result: null }
      : undefined;

  /** Six blocks with transfers above `head`, the first of them to our wallet. */
  async function pay(wallet: string): Promise<void> {
    await reading.chain.transfer(wallet, 5n);
    for (let other = 0; other < 5; other += 1) await reading.chain.transfer(newWallet(), 5n);
  }
  /** It answers an empty list for the events of a block that it does not have. */
  const lacksEvents = (from: number) => {
    const lacking = lacks('eth_getBlockByHash', from);
    const isLate = (log: RawLog) => Number(log.blockNumber) >= from;
    const silent = onLogs((logs) => logs.filter((log) => !isLate(log)));
    return (call: Call, answer: Answer) => lacking(call, answer) ?? silent(call, answer);
  };

  test.each<[string, (from: number) => (call: Call, answer: Answer) => Partial<Answer> | undefined]>([
    ['whose headers', (from) => lacks('eth_getBlockByNumber', from)],
    ['whose events', lacksEvents],
  ])(
    'lose the last blocks of a batch, %s it does not have, and the blocks before them are read',
    async (_, lateFrom) => {
      const wallet = newWallet();
      const head = await headNumber();
      const local = await reading.scannedTo(head);
      await pay(wallet);
      const late = lateFrom(head + 4);
      reading.node.spoil((call, answer) => (call.params[0] === 'latest' ? undefined : late(call, answer)));
      const seen = await reading.read((rpc) => poll(rpc, reading.pollContext(local, [wallet])));
      expect(transfersOf(seen)).toHaveLength(1);
      expect(seen).toMatchObject({ head: head + 6, blocksToStore: [1, 2, 3].map((next) => ({ number: head + next })) });
    },
  );

  test('count as a missing block when not even the first one is there', async () => {
    const local = await reading.scannedTo(await headNumber());
    await pay(newWallet());
    reading.node.spoil(lacksEvents(0));
    await expect(reading.read((rpc) => poll(rpc, reading.pollContext(local)))).rejects.toThrow(/unknown_block/);
  });
});

describe('a fork', () => {
  test('that happened twice between two polls is found at its lowest block', async () => {
    for (let pair = 0; pair < 2; pair += 1) {
      await reading.chain.transfer(newWallet(), 5n);
      await reading.chain.mine(1);
    }
    const tip = await headNumber();
    const local = await reading.scannedTo(tip);
    await reading.chain.reorg(2);
    await reading.chain.reorg(4);
    await reading.chain.mine(1);
    const seen = await reading.read((rpc) => poll(rpc, reading.pollContext(local)));
    expect(seen).toMatchObject({ kind: 'fork', fork: { kind: 'reorg', ancestor: { number: tip - 4 } } });
  });

  test('is not reported for an older head of the same chain', async () => {
    await reading.chain.mine(3);
    const local = await reading.scannedTo(await headNumber());
    reading.node.lag(2);
    expect(await reading.read((rpc) => poll(rpc, reading.pollContext(local)))).toMatchObject({ kind: 'no_new_blocks' });
  });

  test('is not reported when a lagging node answers in the middle of a poll', async () => {
    await reading.chain.mine(5);
    const local = await reading.scannedTo(await headNumber());
    await reading.chain.mine(1);
    // The first answer comes from a node with a newest block that does not follow ours, all others from one that is three blocks behind our tip.
    const alien = { hash: `0x${'2'.repeat(64)}`, parentHash: `0x${'1'.repeat(64)}` };
    reading.node.spoil((call, answer) => {
      if (call.params[0] === 'latest') return { result: { ...(answer.result as object), ...alien } };
      return Number(call.params[0]) > local.tip().number - 3 ? { result: null } : undefined;
    });
    const polling = reading.read((rpc) => poll(rpc, reading.pollContext(local)));
    await expect(polling).rejects.toThrow(/invalid_answer: block \d+ does not follow/);
  });

  test('below the finalized block is reported only with a block that the node shows', async () => {
    await reading.chain.transfer(newWallet(), 5n);
    await reading.chain.mine(4);
    const tip = await headNumber();
    const local = await reading.scannedTo(tip);
    await reading.chain.reorg(5);
    const from = reading.pollContext(local, [], { finalized: tip - 3 });
    expect(await reading.read((rpc) => poll(rpc, from))).toMatchObject({
      kind: 'fork',
      fork: { kind: 'below_finalized', number: tip - 3 },
    });
    reading.node.spoil((call) => (Number(call.params[0]) === tip - 3 ? { result: null } : undefined));
    await expect(reading.read((rpc) => poll(rpc, from))).rejects.toThrow(/unknown_block/);
  });
});

describe("a node that behaves like Tron's", () => {
  let tron: Reading;
  beforeAll(async () => {
    tron = await startReading({}, 'tron');
    await tron.chain.mine(3);
  });
  afterAll(() => tron.close());

  test('is never asked with a filter, because its index may be incomplete', async () => {
    const blank = onBlocks(() => ({ logsBloom: `0x${'0'.repeat(512)}`, stateRoot: '0x' }));
    const incomplete = onLogs((logs, { address, topics }) => ((address ?? topics) !== undefined ? [] : logs));
    tron.node.spoil((call, answer) => blank(call, answer) ?? incomplete(call, answer));
    const wallet = newWallet();
    const local = await tron.scannedTo((await tron.head()).number);
    await tron.chain.transfer(wallet, 5n);
    const { answer, calls } = await tron.readWithCost((rpc) => poll(rpc, tron.pollContext(local, [wallet])));
    expect(transfersOf(answer)).toMatchObject([{ amountUnits: 5n }]);
    const filters = calls
      .filter(({ method }) => method === 'eth_getLogs')
      .map(({ params }) => Object.keys(params[0] as object));
    expect(filters).toEqual([['blockHash']]);
  });
});

test('many blocks are read in as many batches as they need', async () => {
  const { requests } = await reading.readWithCost((rpc) =>
    readBlocksAt(
      rpc,
      Array.from({ length: 150 }, (_, number) => number),
    ),
  );
  expect(requests).toBe(2);
});
