import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Interface } from 'ethers';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentClosed, PaymentCreated } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import type { RunningWatcher } from '../watcher.ts';
import { startWorld, type World } from '../world.ts';
import { expectNothingTwice, stateOfWatch, untilCaughtUp } from '../support.ts';

// Real parts are slow on a busy machine. No test here passes or fails by time.
const WALLETS = amountOf({ short: 20_000, long: 1_000_000 });
/** Few enough at once that no statement reaches its limit of five seconds, even on a busy machine. */
const PAGE = 10_000;
const BLOCKS = amountOf({ short: 2, long: 4 });
/** In each block: transfers in one transaction, and transactions with one transfer. Together 500 transfers to watched wallets. */
const BATCHES = 3;
const PER_BATCH = 140;
const SINGLES = 80;
const LATE = 100;

const usdt = new Interface(['function transfer(address,uint256)', 'function batchTransfer(address[],uint256[])']);

let world: World;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld();
  for (let first = 1; first <= WALLETS; first += PAGE)
    await world.pool.query(
      `insert into watch (network, address, merchant_id, watched_from, watched_until, state)
       select 'local', decode(md5(number::text) || '00000000', 'hex'), $1, now() - interval '1 hour', now() + interval '1 day', 'watching'
       from generate_series($2::integer, $3) number`,
      [newId('mer'), first, first + PAGE - 1],
    );
  watcher = world.watch();
}, 300_000);
afterAll(() => world.close());

/** The n-th wallet of the crowd, as the statement above makes it. */
const walletOf = (number: number) =>
  addressFromHex('evm', `0x${createHash('md5').update(String(number)).digest('hex')}00000000`);

type Sent = { to: string; units: bigint };

/** One block with these transfers: many in a few transactions, and the others in one each. */
async function mineBlock(transfers: readonly Sent[]): Promise<void> {
  const { chain } = world;
  const send = (gas: number, data: string) =>
    chain.rpc('eth_sendTransaction', [{ from: chain.payer, to: chain.token, gas: `0x${gas.toString(16)}`, data }]);
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const some = transfers.slice(batch * PER_BATCH, (batch + 1) * PER_BATCH);
    const lists = [some.map(({ to }) => to), some.map(({ units }) => units)];
    await send(7_000_000, usdt.encodeFunctionData('batchTransfer', lists));
  }
  for (const { to, units } of transfers.slice(BATCHES * PER_BATCH))
    await send(80_000, usdt.encodeFunctionData('transfer', [to, units]));
  await chain.mine(1);
}

/** The messages about one payment in a possible order: the end before the beginning, and the beginning twice. */
async function publishInDisorder(recipient: string, createdAt: string): Promise<void> {
  const payment = { payment_id: newId('pay'), merchant_id: newId('mer'), network: 'local', recipient };
  const expiresAt = new Date(Date.parse(createdAt) + 1_800_000).toISOString();
  const created = { ...payment, amount: '10.5', created_at: createdAt, expires_at: expiresAt };
  const closed = { ...payment, status: 'CANCELLED' as const, closed_at: new Date().toISOString() };
  // A busy machine may be too slow to give a connection. A message that is written twice is just another repetition.
  await eventually(() => world.publish(PaymentClosed, closed));
  for (let copy = 0; copy < 2; copy += 1) await eventually(() => world.publish(PaymentCreated, created));
}

test(`for ${WALLETS} wallets, no transfer is missed or published twice, at 500 transfers a block and with unordered messages`, async () => {
  await eventually(async () => {
    const metric = await watcher.metrics.registry.getSingleMetric('chain_watched_wallets')!.get();
    expect(metric.values[0]?.value).toBe(WALLETS);
  });
  await world.chain.rpc('evm_setAutomine', [false]);
  const createdAt = new Date().toISOString();
  const [expected, late]: [Sent[], string[]] = [[], []];
  let units = 0n;
  const to = (recipient: string): Sent => ({ to: recipient, units: (units += 1n) });
  for (let block = 0; block < BLOCKS; block += 1) {
    const own = Array.from({ length: BATCHES * PER_BATCH + SINGLES }, () =>
      to(walletOf(1 + Math.floor(Math.random() * WALLETS))),
    );
    const unknown = Array.from({ length: LATE / BLOCKS }, () => to(newWallet()));
    expected.push(...own, ...unknown);
    late.push(...unknown.map((transfer) => transfer.to));
    // Transfers of strangers are among those that count.
    const strangers = Array.from({ length: 20 }, () => to(newWallet()));
    const [, ...messages] = await Promise.all([
      mineBlock([...own, ...unknown, ...strangers]),
      ...own.slice(0, 25).map((transfer) => publishInDisorder(transfer.to, createdAt)),
    ]);
    expect(messages).toHaveLength(25);
    await Promise.all(unknown.map((transfer) => publishInDisorder(transfer.to, createdAt)));
  }
  await world.chain.rpc('evm_setAutomine', [true]);
  await world.chain.mine(2);
  await untilCaughtUp(world);
  for (const wallet of late) await eventually(async () => expect(await stateOfWatch(world, wallet)).toBe('watching'));

  const published = expected.map((transfer) => `${transfer.to} ${transfer.units}`).sort();
  const receivedIn = (phase: string) =>
    world.received
      .filter((message) => message.phase === phase)
      .map((message) => `${message.to} ${message.amount_units}`);
  await eventually(() => {
    // A transfer's two messages may overtake each other.
    for (const phase of ['seen', 'confirmed']) expect(receivedIn(phase)).toHaveLength(expected.length);
  });
  expect(receivedIn('seen').sort()).toEqual(published);
  expect(receivedIn('confirmed').sort()).toEqual(published);
  expectNothingTwice(world);
  const { rows } = await world.pool.query<{ recipient: string; amount_units: string; phase: string }>(
    `select '0x' || encode(recipient, 'hex') as recipient, amount_units, phase from transfer`,
  );
  expect(rows.every(({ phase }) => phase === 'confirmed')).toBe(true);
  expect(rows.map((row) => `${addressFromHex('evm', row.recipient)} ${row.amount_units}`).sort()).toEqual(published);
}, 600_000);
