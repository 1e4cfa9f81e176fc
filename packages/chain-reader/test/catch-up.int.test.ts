import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { catchUp, readFinalRange, type FinalRange } from '../src/chain/catch-up.ts';
import type { LocalChain } from '../src/chain/local-chain.ts';
import { createWatchSet } from '../src/chain/watch-set.ts';
import { startReading, transfersOf, type Reading } from './reading.ts';

let reading: Reading;
let local: LocalChain;
/** Is paid in the second and in the fourth block above our tip. */
const wallet = newWallet();
const other = newWallet();
let from: number;
const BLOCKS = 20;
/** Enough wallets that nodes are asked for every transfer. */
const crowd = Array.from({ length: 501 }, () => newWallet().toLowerCase());

beforeAll(async () => {
  reading = await startReading();
  await reading.chain.mine(1);
  const tip = (await reading.head()).number;
  from = tip + 1;
  await reading.chain.mine(1);
  await reading.chain.transfer(wallet, 7n);
  await reading.chain.mine(1);
  await reading.chain.transfer(other, 8n);
  await reading.chain.mine(BLOCKS);
  local = await reading.scannedTo(tip);
});
afterAll(() => reading.close());

const finalized = () => ({ height: from + BLOCKS - 1, isNamed: true });
const readAhead = (wallets: readonly string[]): Promise<FinalRange> => {
  const watches = createWatchSet();
  wallets.forEach((each) => watches.add(each.toLowerCase()));
  const span = { from, to: from + BLOCKS - 1 };
  return reading.read((rpc) => readFinalRange(rpc, { network: reading.network, watches }, span));
};
const join = (ahead: FinalRange | null, wallets: string[], chain = local) =>
  reading.readWithCost((rpc) =>
    catchUp(rpc, reading.pollContext(chain, wallets, { maxBlocks: BLOCKS }), finalized(), ahead),
  );
const methodsOf = ({ calls }: Awaited<ReturnType<typeof join>>) => [...new Set(calls.map(({ method }) => method))];

test('a range that was read ahead is not requested again, and has the same result as one read in turn', async () => {
  const ahead = await readAhead([wallet, other]);
  const joined = await join(ahead, [wallet, other]);
  expect(joined.answer).toEqual((await join(null, [wallet, other])).answer);
  expect(transfersOf(joined.answer).map(({ amountUnits }) => amountUnits)).toEqual([7n, 8n]);
  // The blocks and the receipts of the matches.
  expect(methodsOf(joined)).toEqual(['eth_getBlockByNumber', 'eth_getTransactionReceipt']);
});

test('a wallet that is watched since a range was read ahead misses none of its transfers', async () => {
  const among = await join(await readAhead(crowd), [...crowd, wallet]);
  expect(transfersOf(among.answer).map(({ amountUnits }) => amountUnits)).toEqual([7n]);
  expect(methodsOf(among)).not.toContain('eth_getLogs');
  // For few wallets, only their transfers were requested.
  const alone = await join(await readAhead([other]), [other, wallet]);
  expect(transfersOf(alone.answer).map(({ amountUnits }) => amountUnits)).toEqual([7n, 8n]);
  expect(methodsOf(alone)).toContain('eth_getLogs');
});

test('a range from another node, or of other blocks, is read again', async () => {
  const ahead = await readAhead([wallet]);
  for (const unusable of [
    { ...ahead, endpoint: 1 },
    { ...ahead, from: from + 1 },
  ]) {
    const joined = await join(unusable, [wallet]);
    expect(transfersOf(joined.answer).map(({ amountUnits }) => amountUnits)).toEqual([7n]);
    expect(methodsOf(joined)).toContain('eth_getLogs');
  }
});

test('a range that was read ahead and does not follow our tip is a fork or a false answer, and is not stored', async () => {
  const ahead = await readAhead([wallet]);
  const range = { ...ahead.range, first: { ...ahead.range.first, parentHash: `0x${'0'.repeat(64)}` } };
  await expect(join({ ...ahead, range }, [wallet])).rejects.toThrow("does not follow the node's own block");
});
