import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { forgeFrom, type RawLog } from './forged-chain.ts';
import { cursorOf, headOf, watchedWallet } from './support.ts';
import {
  CONFIRMATIONS,
  startTwoEndpoints,
  topicOf,
  untilIncident,
  wordOf,
  type TwoEndpoints,
} from './two-endpoints.ts';
import { untilReceived } from './world.ts';

let two: TwoEndpoints;
let world: TwoEndpoints['world'];
let liar: TwoEndpoints['liar'];

// What an endpoint did in one test decides in which order the next one would ask.
beforeEach(async () => {
  two = await startTwoEndpoints();
  ({ world, liar } = two);
});
afterEach(() => two.close());

/**
 * Pays a wallet in a block that the liar shows with another recipient, below a branch that fits it. The other endpoint has the true blocks
 * once the liar's are read.
 * @returns the block's height.
 */
async function payBehindForgedBlock(wallet: string, shownRecipient: string): Promise<number> {
  const ahead = CONFIRMATIONS + 2;
  for (const node of [liar, two.honest]) node.lag(ahead);
  const height = (await headOf(world)) + 1;
  await world.chain.transfer(wallet, 5n);
  await world.chain.mine(ahead - 1);
  const toOther = (log: RawLog) => ({ ...log, topics: log.topics.with(2, topicOf(shownRecipient)) });
  liar.spoil(
    await forgeFrom(world.chain, height, (receipts) =>
      receipts.map((receipt) => ({ ...receipt, logs: receipt.logs.map(toOther) })),
    ),
  );
  liar.lag(0);
  await eventually(async () => expect(await cursorOf(world)).toBeGreaterThanOrEqual(height));
  two.honest.lag(0);
  return height;
}

test('a header that does not have its hash is not believed', async () => {
  const mine = await watchedWallet(world);
  liar.spoil(({ method }, { result }) =>
    method === 'eth_getBlockByNumber' && result ? { result: { ...result, timestamp: '0x65000000' } } : undefined,
  );
  await world.chain.transfer(mine, 5n);
  await world.chain.mine(CONFIRMATIONS - 1);
  await untilReceived(world, mine, ['seen', 'confirmed']);
  await untilIncident(world, 'false_answer', { answer: expect.stringContaining('does not have its hash') });
});

test('a forged block whose answers all fit each other: nothing of it is confirmed, and the truth is told once the endpoint is gone', async () => {
  const [mine, other] = [await watchedWallet(world), await watchedWallet(world)];
  const confirmed = (wallet: string) =>
    world.received.filter(({ to, phase }) => to === wallet && phase === 'confirmed');
  const forged = await payBehindForgedBlock(mine, other);
  await untilIncident(world, 'endpoints_disagree', { block_number: forged, endpoint: 0 });
  await untilReceived(world, other, ['seen']);
  liar.spoil(null);
  await eventually(() => expect(confirmed(mine)).toHaveLength(1));
  await untilReceived(world, other, ['seen', 'retracted']);
});

test('a forged block that hides a transfer: an incident names it, and the truth is told once the endpoint is gone', async () => {
  const [mine, stranger] = [await watchedWallet(world), newWallet()];
  await payBehindForgedBlock(mine, stranger);
  await untilIncident(world, 'endpoints_disagree', { from_block: expect.any(Number), endpoint: 0 });
  expect(world.received.filter(({ to }) => to === mine)).toEqual([]);
  liar.spoil(null);
  await untilReceived(world, mine, ['seen', 'confirmed']);
});

test('another id for a transaction: it is never confirmed, and the true one is once nobody contradicts', async () => {
  const mine = await watchedWallet(world);
  const invented = `0x${'ab'.repeat(32)}`;
  const trueHash = { current: '' };
  liar.spoil(({ method }, answer) =>
    ['eth_getLogs', 'eth_getBlockReceipts', 'eth_getBlockByNumber', 'eth_getBlockByHash'].includes(method)
      ? { result: JSON.parse(JSON.stringify(answer.result ?? null).replaceAll(trueHash.current || 'none', invented)) }
      : undefined,
  );
  await world.chain.rpc('evm_setAutomine', [false]);
  const input = `0xa9059cbb${topicOf(mine).slice(2)}${wordOf(5n).slice(2)}`;
  trueHash.current = await world.chain.rpc<string>('eth_sendTransaction', [
    { from: world.chain.payer, to: world.chain.token, data: input, gas: '0x186a0' },
  ]);
  await world.chain.mine(CONFIRMATIONS + 1);
  await world.chain.rpc('evm_setAutomine', [true]);
  await untilIncident(world, 'endpoints_disagree', { transaction_id: invented.slice(2) });
  // The second reading, through the other endpoint, finds the true one.
  await untilIncident(world, 'transfer_missed', { transaction_id: trueHash.current.slice(2) });
  const confirmed = () => world.received.filter(({ to, phase }) => to === mine && phase === 'confirmed');
  expect(confirmed()).toEqual([]);
  liar.spoil(null);
  await eventually(() => expect(confirmed()).toMatchObject([{ transaction_id: trueHash.current.slice(2) }]));
});

test('while the other endpoint is silent for long, one is enough for small amounts', async () => {
  const small = await watchedWallet(world);
  liar.replaceAll('drop');
  await world.chain.transfer(small, 5n);
  await world.chain.mine(CONFIRMATIONS - 1);
  await untilReceived(world, small, ['seen', 'confirmed']);
  const { rows } = await world.pool.query<{ agreed_by: number }>(
    `select agreed_by from transfer where recipient = decode($1, 'hex')`,
    [small.slice(2)],
  );
  expect(rows).toEqual([{ agreed_by: 1 }]);
});
