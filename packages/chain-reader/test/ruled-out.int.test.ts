import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Call } from '@quittance/testkit/chain/misbehaving-node.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { onBlocks, poll, startReading, transfersOf, type Reading } from './reading.ts';

let reading: Reading;
beforeAll(async () => {
  reading = await startReading();
  await reading.chain.mine(20);
});
afterAll(() => reading.close());
afterEach(() => reading.node.spoil(null));

const headNumber = async () => (await reading.head()).number;
/** A chain that is scanned up to the head, and one poll of the blocks since then. */
async function pollAfter(happens: () => Promise<unknown>) {
  const local = await reading.scannedTo(await headNumber());
  await happens();
  return reading.readWithCost((rpc) => poll(rpc, reading.pollContext(local)));
}

describe('a poll near the head', () => {
  test('asks nothing about a block whose header rules out a transfer, unless events may be outside the filter', async () => {
    const mine = () => reading.chain.mine(3);
    const askedForLogs = (calls: readonly Call[]) => calls.filter(({ method }) => method === 'eth_getLogs').length;
    const { answer, calls } = await pollAfter(mine);
    expect(answer).toMatchObject({ kind: 'blocks', blocksToStore: [{}, {}, {}], transfers: [] });
    expect(askedForLogs(calls)).toBe(0);
    const network = { ...reading.network, hasEventsInBloom: false };
    const local = await reading.scannedTo(await headNumber());
    await mine();
    const asked = await reading.readWithCost((rpc) => poll(rpc, reading.pollContext(local, [], { network })));
    expect(askedForLogs(asked.calls)).toBe(3);
  });

  test('asks for all events if the filter allows a transfer and none is shown, and for the block if there are no events', async () => {
    const local = await reading.scannedTo(await headNumber());
    await reading.chain.mine(1);
    // As if other events had set the same bits.
    const allowing = onBlocks(() => ({ logsBloom: `0x${'f'.repeat(512)}` }));
    const asked: string[] = [];
    reading.node.spoil((call, answer) => {
      if (/Logs|ByHash/.test(call.method)) asked.push(call.method);
      return allowing(call, answer);
    });
    const polling = reading.read((rpc) => poll(rpc, reading.pollContext(local)));
    await expect(polling).rejects.toThrow(/invalid_answer: events are missing/);
    expect(asked).toEqual(['eth_getLogs', 'eth_getLogs', 'eth_getBlockByHash']);
  });

  test('finds events outside the filter of their block, on a network that has such events', async () => {
    const wallet = newWallet();
    const local = await reading.scannedTo(await headNumber());
    await reading.chain.transfer(wallet, 5n);
    // Not empty: the filter has another event.
    reading.node.spoil(onBlocks(() => ({ logsBloom: `0x${'0'.repeat(511)}1` })));
    const network = { ...reading.network, hasEventsInBloom: false };
    const seen = await reading.read((rpc) => poll(rpc, reading.pollContext(local, [wallet], { network })));
    expect(transfersOf(seen)).toHaveLength(1);
  });
});
