import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId, newSecret } from '@quittance/contracts/ids.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withDatabase } from '../support/database.ts';
import { send } from '../support/http.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { type OldMerchant, prepareFirstRelease, readRows, type Rows } from './first-release.ts';

const patience = { timeoutMs: 150_000, intervalMs: 700 };
const old: OldMerchant = {
  merchant: newId('mer'),
  api_key: newSecret('qk'),
  wallet: newWallet(),
  // As that release issued them.
  signing_key: `whsec_${randomBytes(32).toString('base64url')}`,
};
/** What processes change as soon as they run. */
const alive = ['gateway.merchant_activity', 'gateway.rate_limit_window', 'webhooks.lane', 'chain.watch'];

let stack: JourneyStack;
let before: Rows;
let after: Rows;
beforeAll(async () => {
  stack = await journeyStack({
    sharesBroker: true,
    prepare: async (directory, ports) => void (before = await prepareFirstRelease(directory, ports, old)),
  });
  after = await withDatabase(stack.file.postgres_url, readRows);
}, 300_000);
afterAll(() => stack.close());

const call = async <T>(method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
  const { status, text } = await send(method, `${stack.file.edge_url}/api/v1${path}`, {
    headers: { 'X-API-Key': old.api_key, 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status, body: JSON.parse(text) as T };
};
type Shown = { payment_id: string; status: string; amount: string };

describe('a database of 0.1.0, migrated to this version', () => {
  test('had rows in every table', () => {
    expect([...before].filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([]);
    expect(before.size).toBeGreaterThan(40);
  });

  test('keeps every row and every value', () => {
    for (const [table, rows] of before) {
      if (alive.includes(table)) continue;
      const kept = after.get(table) ?? [];
      for (const row of rows)
        expect({ table, kept }).toEqual({ table, kept: expect.arrayContaining([expect.objectContaining(row)]) });
    }
  });

  test('lets its merchant in with its key, and shows its payments as they were', async () => {
    const { status, body } = await eventually(async () => {
      const answer = await call<{ payments: Shown[] }>('GET', '/payments');
      expect(answer.status).toBe(200);
      return answer;
    }, patience);
    expect(status).toBe(200);
    const shown = body.payments.map((payment) => [payment.status, payment.amount]);
    expect(shown.toSorted()).toEqual([
      ['CANCELLED', '14.00'],
      ['EXPIRED', '13.00'],
      ['PAID', '12.00'],
      ['PENDING', '11.00'],
    ]);
  });

  test('shows an old transfer that pays nothing with the payment that it was for', async () => {
    const { body } = await call<{ payments: Shown[] }>('GET', '/payments?status=EXPIRED');
    const details = await call<object>('GET', `/payments/${body.payments[0]?.payment_id}/details`);
    expect(details.body).toMatchObject({ unmatched_transfers: [{ reason: 'underpaid', candidate_count: 1 }] });
  });

  test('has an old payment paid, and its webhook delivered to the old endpoint with the old key', async () => {
    await stack.backends.receiver.trust('whk_1', old.signing_key);
    const { body } = await call<{ payments: Shown[] }>('GET', '/payments?status=PENDING');
    const [pending] = body.payments;
    await payOnChain(stack.file.chain, old.wallet, '11.00');
    await eventually(async () => {
      const { events } = (await (await fetch(stack.file.receiver.events_url)).json()) as {
        events: { host: string; verified: boolean; body: { payment_id: string; status: string } }[];
      };
      const ours = events.filter(({ host }) => host === 'old.example.com');
      expect(ours).toMatchObject([{ verified: true, body: { payment_id: pending?.payment_id, status: 'PAID' } }]);
    }, patience);
  });

  test('counts on from where it was, and takes new payments on the wallet it has', async () => {
    const order = { amount: '15.00', merchant_wallet: old.wallet, description: 'A new order' };
    const key = { 'Idempotency-Key': randomBytes(8).toString('hex') };
    await eventually(async () => expect((await call('POST', '/payments', order, key)).status).toBe(201), patience);
    const limits = await call<{ lifetime_requests_used: number }>('GET', '/merchant/limits');
    expect(limits.body.lifetime_requests_used).toBe(6);
  });
});
