import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { Expected } from '../src/chain/read-ahead.ts';
import { onBlocks, onLogs, poll, startReading, transfersOf, type Reading } from './reading.ts';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
  await reading.chain.mine(20);
});
afterAll(() => reading.close());
afterEach(() => {
  reading.node.spoil(null);
  reading.node.refuse(null);
});

const several: Expected = { several: true, maxBlocks: 32, wallets: null };
const one: Expected = { several: false, maxBlocks: 1, wallets: null };

/** A chain scanned up to the head, and one poll of what came since, which was expected. */
async function pollAfter(happens: () => Promise<unknown>, expected: Expected, wallets: string[] = []) {
  const { number } = await reading.head();
  const local = await reading.scannedTo(number);
  await happens();
  const context = { ...reading.pollContext(local, wallets), asksFinality: false, expected };
  const read = await reading.readWithCost((rpc) => poll(rpc, context));
  const stored = read.answer.kind === 'blocks' ? read.answer.blocksToStore.map((block) => block.number - number) : null;
  return { ...read, calls: read.calls.map(({ method }) => method), stored, context };
}

const mineFive = () => reading.chain.mine(5);
const methods = { header: 'eth_getBlockByNumber', logs: 'eth_getLogs' };

describe('of several blocks that were expected', () => {
  test('three calls in one request read all, where none has a transfer to a watched wallet', async () => {
    const pay = async () => {
      await reading.chain.transfer(newWallet(), 5n);
      await mineFive();
    };
    const { answer, requests, calls, stored } = await pollAfter(pay, several, [newWallet()]);
    expect(answer).toMatchObject({ kind: 'blocks', finalized: null, transfers: [] });
    expect([requests, calls, stored]).toEqual([1, [methods.header, methods.header, methods.logs], [6]]);
  });

  test('those with a transfer to a watched wallet are read by their height, and stored with the last one', async () => {
    const wallet = newWallet();
    const pay = async () => {
      for (const units of [1n, 2n]) {
        await reading.chain.mine(1);
        await reading.chain.transfer(wallet, units);
      }
      await reading.chain.mine(1);
    };
    const { answer, stored } = await pollAfter(pay, several, [wallet]);
    expect(transfersOf(answer).map(({ amountUnits }) => amountUnits)).toEqual([1n, 2n]);
    expect(stored).toEqual([2, 4, 5]);
  });

  test('none is read so when our own last block has been replaced: the fork is found', async () => {
    const { answer } = await pollAfter(async () => {
      await reading.chain.reorg(3);
      await mineFive();
    }, several);
    expect(answer).toMatchObject({ kind: 'fork', fork: { kind: 'reorg' } });
  });

  test('a transfer whose block has been replaced meanwhile is not believed', async () => {
    const wallet = newWallet();
    const elsewhere = onLogs((logs) => logs.map((log) => ({ ...log, blockHash: `0x${'ab'.repeat(32)}` })));
    reading.node.spoil((call, answer) =>
      JSON.stringify(call).includes('latest') ? elsewhere(call, answer) : undefined,
    );
    const pay = async () => {
      await reading.chain.transfer(wallet, 5n);
      await mineFive();
    };
    const { answer, stored } = await pollAfter(pay, several, [wallet]);
    // Block by block, by their hashes.
    expect([transfersOf(answer).length, stored]).toEqual([1, [1, 2, 3, 4, 5, 6]]);
  });

  test.each<[string, () => void]>([
    [
      'a node refuses their events',
      () =>
        reading.node.spoil((call) =>
          JSON.stringify(call).includes('toBlock')
            ? { result: undefined, error: { code: -32000, message: 'specify an address' } }
            : undefined,
        ),
    ],
    [
      'an answer looks cut off',
      () =>
        reading.node.spoil(
          onLogs((logs, { toBlock }) =>
            toBlock === undefined
              ? logs
              : Array.from({ length: 1_000 }, (_, at) => ({ ...logs[0], logIndex: `0x${at.toString(16)}` })),
          ),
        ),
    ],
  ])('all are read one by one where %s', async (_, spoil) => {
    const wallet = newWallet();
    const pay = async () => {
      await reading.chain.transfer(wallet, 5n);
      await mineFive();
      spoil();
    };
    const { answer, stored } = await pollAfter(pay, several, [wallet]);
    expect([transfersOf(answer).length, stored]).toEqual([1, [1, 2, 3, 4, 5, 6]]);
  });

  test('more than were expected are read otherwise', async () => {
    const { stored } = await pollAfter(mineFive, { ...several, maxBlocks: 4 });
    expect(stored).toEqual([1, 2, 3, 4, 5]);
  });

  test('one from before the last one is an invalid answer', async () => {
    const back = pollAfter(async () => {
      await mineFive();
      reading.node.spoil(onBlocks(() => ({ timestamp: '0x1' })));
    }, several);
    await expect(back).rejects.toThrow(/invalid_answer: a block that is older/);
  });

  test('only transfers to the wallets are asked for while nobody waits, and nothing where there are none', async () => {
    const wallet = newWallet();
    const pay = () => reading.chain.transfer(wallet, 5n).then(mineFive);
    const found = await pollAfter(pay, { ...several, wallets: [wallet.toLowerCase()] }, [wallet]);
    expect(transfersOf(found.answer)).toHaveLength(1);
    const none = await pollAfter(pay, { ...several, wallets: [] });
    expect([none.calls, none.stored]).toEqual([[methods.header, methods.header], [6]]);
  });
});

describe('of one block that was expected', () => {
  test('head and events are read by one request', async () => {
    const { requests, stored } = await pollAfter(() => reading.chain.transfer(newWallet(), 5n), one);
    expect([requests, stored]).toEqual([1, [1]]);
  });

  test('a transfer is found', async () => {
    const wallet = newWallet();
    const { answer } = await pollAfter(() => reading.chain.transfer(wallet, 5n), one, [wallet]);
    expect(transfersOf(answer)).toHaveLength(1);
  });

  test('no empty answer is believed that its header does not prove', async () => {
    reading.node.spoil(onLogs(() => []));
    const hidden = pollAfter(() => reading.chain.transfer(newWallet(), 5n), one);
    await expect(hidden).rejects.toThrow(/invalid_answer/);
  });

  test('which has not come yet nothing is said', async () => {
    const { answer } = await pollAfter(async () => undefined, one);
    expect(answer.kind).toBe('no_new_blocks');
  });

  test('and a second one both are read', async () => {
    expect((await pollAfter(() => reading.chain.mine(2), one)).stored).toEqual([1, 2]);
  });
});
