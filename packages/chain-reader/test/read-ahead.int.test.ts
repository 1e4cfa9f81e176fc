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

/** A chain that is scanned up to the head, and one poll of the blocks since then, which were expected. */
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

describe('several expected blocks', () => {
  test('are read by three calls in one request when none has a transfer to a watched wallet', async () => {
    const pay = async () => {
      await reading.chain.transfer(newWallet(), 5n);
      await mineFive();
    };
    const { answer, requests, calls, stored } = await pollAfter(pay, several, [newWallet()]);
    expect(answer).toMatchObject({ kind: 'blocks', finalized: null, transfers: [] });
    expect([requests, calls, stored]).toEqual([1, [methods.header, methods.header, methods.logs], [6]]);
  });

  test('with a transfer to a watched wallet are read by their height, and stored with the last one', async () => {
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

  test('are not read ahead when our own last block was replaced: the fork is found', async () => {
    const { answer } = await pollAfter(async () => {
      await reading.chain.reorg(3);
      await mineFive();
    }, several);
    expect(answer).toMatchObject({ kind: 'fork', fork: { kind: 'reorg' } });
  });

  test('with a transfer are not believed if its block was replaced in the meantime', async () => {
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
  ])('are read one by one when %s', async (_, spoil) => {
    const wallet = newWallet();
    const pay = async () => {
      await reading.chain.transfer(wallet, 5n);
      await mineFive();
      spoil();
    };
    const { answer, stored } = await pollAfter(pay, several, [wallet]);
    expect([transfersOf(answer).length, stored]).toEqual([1, [1, 2, 3, 4, 5, 6]]);
  });

  test('are read in another way when there are more than expected', async () => {
    const { stored } = await pollAfter(mineFive, { ...several, maxBlocks: 4 });
    expect(stored).toEqual([1, 2, 3, 4, 5]);
  });

  test('that are older than the last one are an invalid answer', async () => {
    const back = pollAfter(async () => {
      await mineFive();
      reading.node.spoil(onBlocks(() => ({ timestamp: '0x1' })));
    }, several);
    await expect(back).rejects.toThrow(/invalid_answer: a block that is older/);
  });

  test('need only the transfers to the wallets while no payment waits, and none without wallets', async () => {
    const wallet = newWallet();
    const pay = () => reading.chain.transfer(wallet, 5n).then(mineFive);
    const found = await pollAfter(pay, { ...several, wallets: [wallet.toLowerCase()] }, [wallet]);
    expect(transfersOf(found.answer)).toHaveLength(1);
    const none = await pollAfter(pay, { ...several, wallets: [] });
    expect([none.calls, none.stored]).toEqual([[methods.header, methods.header], [6]]);
  });
});

describe('one expected block', () => {
  test('is read with the head by one request', async () => {
    const { requests, stored } = await pollAfter(() => reading.chain.transfer(newWallet(), 5n), one);
    expect([requests, stored]).toEqual([1, [1]]);
  });

  test('shows its transfer', async () => {
    const wallet = newWallet();
    const { answer } = await pollAfter(() => reading.chain.transfer(wallet, 5n), one, [wallet]);
    expect(transfersOf(answer)).toHaveLength(1);
  });

  test('is not believed to be empty unless its header proves it', async () => {
    reading.node.spoil(onLogs(() => []));
    const hidden = pollAfter(() => reading.chain.transfer(newWallet(), 5n), one);
    await expect(hidden).rejects.toThrow(/invalid_answer/);
  });

  test('that has not come yet gives no result', async () => {
    const { answer } = await pollAfter(async () => undefined, one);
    expect(answer.kind).toBe('no_new_blocks');
  });

  test('and a second one are both read', async () => {
    expect((await pollAfter(() => reading.chain.mine(2), one)).stored).toEqual([1, 2]);
  });
});
