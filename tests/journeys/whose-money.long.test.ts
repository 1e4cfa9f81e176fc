import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { WebhookEvent, WebhookNotice } from '@quittance/contracts/webhook.ts';
import { localNetwork } from '@quittance/local-stack/stack/network.ts';
import { testChain, type TestChain } from '@quittance/testkit/chain.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { callAs } from '@quittance/local-stack/stack/call-as.ts';
import { inDatabase } from '../support/database.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';

/*
 * Which payment gets a transfer, as customers and shops see it, on a chain whose clock is wrong: first 48 s behind, then correct, at last
 * 60 s ahead. The tests run in this order, because a chain's clock cannot go back. The rules are in docs/adr/0062, more cases in
 * services/payments/test/histories.int.test.ts.
 */

const BEHIND_SECONDS = 48;
const AHEAD_SECONDS = 60;
/** A merchant may read 120 times a minute. */
const patience = { intervalMs: 700 };
/** The chain has a block every second: waiting for its time means waiting for its blocks. */
const blocks = { intervalMs: 250 };

let chain: TestChain;
let stack: JourneyStack;
let directory: string;

beforeAll(async () => {
  chain = await testChain({ blockTimeSeconds: 1, clockBehindSeconds: BEHIND_SECONDS });
  const { rpcUrl, chainId, token, decimals } = chain;
  const entry = localNetwork({
    ...{ network: 'local', rpc_url: rpcUrl, chain_id: chainId, token, decimals },
    ...{ payer_address: chain.payer, payer_private_key: '' },
  });
  directory = await mkdtemp(join(tmpdir(), 'quittance-whose-money-'));
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify([{ ...entry, asleep_poll_interval_ms: 60_000 }]));
  stack = await journeyStack({
    sharesBroker: true,
    settings: { CHAIN_RPC_URL: rpcUrl, NETWORKS_FILE: networksFile, PAYMENT_TTL_MIN_SECONDS: '1' },
  });
});
afterAll(async () => {
  await stack.close();
  await chain.close();
  await rm(directory, { recursive: true, force: true });
});

const chainTime = async (): Promise<number> => {
  const { timestamp } = await chain.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]);
  return Number(timestamp) * 1000;
};
const untilChainTime = (moment: number): Promise<void> =>
  eventually(async () => expect(await chainTime()).toBeGreaterThanOrEqual(moment), blocks);

/** A shop that subscribes to all events and whose wallet is watched: new transfers are read as they arrive. */
async function openShop(): Promise<Shop> {
  const shop = await Shop.open(stack);
  const events = ['PAID', 'CHECKING', 'EXPIRED', 'CANCELLED', 'TRANSFER_UNMATCHED'];
  const url = `https://${shop.host}/webhooks`;
  expect((await shop.call('PUT', '/merchant/webhook', { url, events })).status).toBe(200);
  return shop;
}

async function order(shop: Shop, amount: string, seconds = 600): Promise<Payment> {
  const { status, body, text } = await shop.order({ amount, expires_in: seconds });
  if (status !== 201) throw new Error(`the creation answered ${status} ${text}`);
  return body;
}

/** Waits until chain-watcher follows the wallet and has read the chain's head since then. */
async function untilWatched(shop: Shop): Promise<void> {
  await eventually(async () => {
    const watched = `select 1 from chain.watch where address = decode($1, 'hex') and state = 'watching'`;
    expect(await inDatabase(stack.file, watched, [shop.wallet.slice(2)])).toHaveLength(1);
  }, blocks);
  await untilChainTime((await chainTime()) + 3_000);
}

const cancel = async (shop: Shop, { payment_id: id }: Payment): Promise<void> =>
  expect((await shop.call('POST', `/payments/${id}/cancel`)).status).toBe(200);

const untilStatus = (shop: Shop, { payment_id: id }: Payment, status: string) =>
  eventually(async () => {
    const details = await shop.details(id);
    expect(details.status).toBe(status);
    return details;
  }, patience);

/** What the list of a payment's transfers says. */
const listed = async (shop: Shop, { payment_id: id }: Payment) =>
  (await shop.details(id)).unmatched_transfers.map(
    ({ reason, candidate_count: count }) => `${reason}, ${count} of them`,
  );

const page = async ({ payment_url: url }: Payment): Promise<string> => (await fetch(url)).text();
const ARRIVED = 'has arrived at this address';

type Told = WebhookEvent | WebhookNotice;

/** What the shop was notified of, without intermediate steps, once there are at least so many. */
const untilTold = (shop: Shop, atLeast: number, only?: Told['status']): Promise<Told[]> =>
  eventually(async () => {
    const events: Told[] = (await shop.webhooks()).map(({ body }) => body);
    const wanted = events.filter(({ status }) => (only === undefined ? status !== 'CHECKING' : status === only));
    expect(wanted.length).toBeGreaterThanOrEqual(atLeast);
    return wanted;
  }, patience);

describe(`a chain whose clock is ${BEHIND_SECONDS} s behind`, () => {
  let shop: Shop;
  let old: Payment;
  beforeAll(async () => {
    shop = await openShop();
    // Ordered before the time of the blocks in which others will pay.
    old = await order(shop, '10.02');
    await untilWatched(shop);
  });

  test('the exact payment of the only open order is PAID', async () => {
    const payment = await order(shop, '10.01');
    await shop.pay('10.01');
    const { transaction } = await untilStatus(shop, payment, 'PAID');
    expect(Date.parse(transaction!.block_timestamp)).toBeLessThan(Date.parse(payment.created_at));
  });

  test('an exact payment is not shown as another customer’s underpayment', async () => {
    const first = await order(shop, '21.50');
    const second = await order(shop, '21.01');
    await shop.pay('21.01');
    await untilStatus(shop, second, 'PAID');
    expect(await listed(shop, first)).toEqual([]);
    expect(await page(first)).not.toContain(ARRIVED);
    await cancel(shop, first);
  });

  test('a cancelled order is not PAID with the next customer’s money, which may be for either until the shop decides', async () => {
    await untilChainTime(Date.parse(old.created_at) + 2_000);
    await cancel(shop, old);
    const next = await order(shop, '10.02');
    const { transactionHash } = await shop.pay('10.02');
    const mayBe = { transaction: null, unmatched_transfers: [{ reason: 'ambiguous', candidate_count: 2 }] };
    await eventually(async () => {
      expect(await shop.details(old.payment_id)).toMatchObject({ status: 'CANCELLED', ...mayBe });
      expect(await shop.details(next.payment_id)).toMatchObject({ status: 'PENDING', ...mayBe });
    }, patience);
    const told = await untilTold(shop, 1, 'UNMATCHED');
    const candidates = expect.arrayContaining([old.payment_id, next.payment_id]);
    expect(told).toMatchObject([{ payment_id: null, candidates, transfer: { amount: '10.02', reason: 'ambiguous' } }]);
    for (const one of [old, next]) expect(await page(one)).toContain(ARRIVED);
    const [transfer] = (await shop.details(next.payment_id)).unmatched_transfers;
    expect(transfer!.transaction_id).toBe(transactionHash.slice(2));
    const accept = (more: object) =>
      shop.call('POST', `/payments/${next.payment_id}/accept-transfer`, {
        transaction_id: transfer!.transaction_id,
        transaction_event_index: transfer!.transaction_event_index,
        ...more,
      });
    expect((await accept({})).status).toBe(409);
    expect((await accept({ confirm_candidates: 2 })).status).toBe(200);
    expect(await shop.details(next.payment_id)).toMatchObject({ status: 'PAID', unmatched_transfers: [] });
    expect(await listed(shop, old)).not.toContain('ambiguous, 2 of them');
    const paid = await eventually(async () => {
      const ofNext = (await untilTold(shop, 1, 'PAID')).filter(({ payment_id: id }) => id === next.payment_id);
      expect(ofNext).toHaveLength(1);
      return ofNext[0];
    }, patience);
    expect(paid).toMatchObject({ accepted: true, transfer: { amount: '10.02', reason: 'ambiguous' } });
  });
});

describe('a chain whose clock is right', () => {
  beforeAll(() => chain.rpc('evm_increaseTime', [BEHIND_SECONDS]));

  test('a transfer a second after A’s end is late for A, and does not pay B, which was ordered 8 s after the block', async () => {
    const shop = await openShop();
    const a = await order(shop, '10', 12);
    await untilWatched(shop);
    await untilChainTime(Date.parse(a.expires_at) + 1_000);
    await shop.pay('10');
    const block = await chainTime();
    await untilTold(shop, 1, 'UNMATCHED');
    await untilChainTime(block + 8_000);
    const b = await order(shop, '10', 12);
    expect(await page(b)).not.toContain(ARRIVED);
    expect((await untilStatus(shop, b, 'EXPIRED')).unmatched_transfers).toEqual([]);
    expect(await shop.details(a.payment_id)).toMatchObject({ status: 'EXPIRED', transaction: null });
    expect(await listed(shop, a)).toEqual(['late, 1 of them']);
    expect(await page(a)).toContain(ARRIVED);
    const told = await untilTold(shop, 3);
    const right = [
      ['EXPIRED', a.payment_id],
      ['UNMATCHED', a.payment_id],
      ['EXPIRED', b.payment_id],
    ];
    expect(told.map(({ status, payment_id: id }) => [status, id]).toSorted()).toEqual(right.toSorted());
    expect(told).toContainEqual(expect.objectContaining({ status: 'UNMATCHED', candidates: [a.payment_id] }));
  });

  test('a transfer that arrived while the network was asleep is late for A, and does not pay B, whose order woke it', async () => {
    const shop = await openShop();
    const a = await order(shop, '10', 5);
    await untilStatus(shop, a, 'EXPIRED');
    // A quarter of an hour after the last payment's end; every other payment of this stack has ended.
    await inDatabase(stack.file, `update chain.unfinished_payment set closed_at = closed_at - interval '16 minutes'`);
    // A few more blocks than the pause between two polls: the last poll before it sleeps is done.
    await eventually(async () => {
      const { asleep, cursor } = await network();
      expect(asleep).toBe(true);
      expect(Number(await chain.rpc<string>('eth_blockNumber')) - cursor).toBeGreaterThan(4);
    }, blocks);
    await shop.pay('10');
    const block = await chainTime();
    // So that the 15 s in which nobody watched have ended.
    await untilChainTime(block + 20_000);
    const b = await order(shop, '10', 12);
    await eventually(async () => expect(await listed(shop, a)).toEqual(['late, 1 of them']), patience);
    expect(await listed(shop, b)).toEqual([]);
    const read = `select live from chain.transfer where recipient = decode($1, 'hex')`;
    expect(await inDatabase(stack.file, read, [shop.wallet.slice(2)])).toEqual([{ live: false }]);
    expect((await untilStatus(shop, b, 'EXPIRED')).unmatched_transfers).toEqual([]);
    expect(await listed(shop, a)).toEqual(['late, 1 of them']);
    const told = (await untilTold(shop, 3)).map(({ status }) => status);
    expect(told.toSorted()).toEqual(['EXPIRED', 'EXPIRED', 'UNMATCHED']);
  });

  const network = async () => {
    const headers = callAs(stack.file, 'chain-watcher');
    const url = `${stack.file.services['chain-watcher'].url}/internal/v1/chains`;
    return ((await (await fetch(url, { headers })).json()) as [{ asleep: boolean; cursor: number }])[0];
  };
});

test(`a chain whose clock is ${AHEAD_SECONDS} s ahead: paid one minute before the end by the wall clock, in a block after it, is PAID`, async () => {
  const shop = await openShop();
  await chain.rpc('evm_increaseTime', [AHEAD_SECONDS]);
  const payment = await order(shop, '10', AHEAD_SECONDS + 30);
  await untilWatched(shop);
  await untilChainTime(Date.parse(payment.expires_at) + 1_000);
  await shop.pay('10');
  const { transaction } = await untilStatus(shop, payment, 'PAID');
  expect(Date.parse(transaction!.block_timestamp)).toBeGreaterThanOrEqual(Date.parse(payment.expires_at));
});
