import type { PaymentPaid } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { ServiceProcess } from '@quittance/testkit/service-process.ts';
import { status } from '../receiver.ts';
import { internalToken, startWorld, type Merchant, type World } from '../world.ts';
import { findViolations } from './invariants.ts';
import { findForgeries, openVisitorsBook, type Manner, type VisitorsBook } from './visits.ts';

/** A world for many concurrent events, in which every request is recorded and verified. */
export type Site = {
  world: World;
  book: VisitorsBook;
  /** Adds merchants with an endpoint each. @param manner how their receivers treat requests; by default they accept all. */
  merchants(count: number, manner?: Manner): Promise<Merchant[]>;
  /**
   * The same, as if each had answered before: a new lane only has one attempt until that has taken five seconds, which is much of the
   * fifteen seconds after which a held request ends.
   */
  knownMerchants(count: number, manner?: Manner): Promise<Merchant[]>;
  /** Marks payments of these merchants as paid, in turn, and waits until the messages are in the outbox. */
  pay(merchants: readonly Merchant[], count: number): Promise<PaymentPaid[]>;
  /** Calls an internal route of this process. */
  callAt(
    process: ServiceProcess,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }>;
  /** Replaces the merchant's key; the new one is known as soon as it is answered. @returns its id. */
  rotate(merchant: Merchant): Promise<string>;
  /** Deliveries of these merchants that match a condition. */
  count(merchants: readonly Merchant[], condition?: string): Promise<number>;
  /** Waits until this many deliveries of these merchants have succeeded. */
  delivered(merchants: readonly Merchant[], count: number, options?: { timeoutMs?: number }): Promise<void>;
  /** Makes the leases of these merchants expire. */
  lapseLeases(merchants: readonly Merchant[]): Promise<void>;
  /** Violations in the rows and in the requests. */
  violations(): Promise<string[]>;
};

/** The most concurrent calls: one that waits two seconds for a database connection is refused. */
const AT_ONCE = 4;

export async function openSite({ retryDelaysSeconds = '0,0,0,0,0,0,0,0' } = {}): Promise<Site> {
  const world = await startWorld({ retryDelaysSeconds });
  const book = openVisitorsBook(world.receiver);
  let paid = 0;
  const addMerchants: Site['merchants'] = async (count, manner = () => status(200)) => {
    const merchants = await forEach(count, () => world.merchant());
    for (const { host, keyId, signingKey } of merchants) {
      book.keys.set(keyId, signingKey);
      book.treat(host, manner);
    }
    return merchants;
  };
  return {
    world,
    book,
    merchants: addMerchants,
    async knownMerchants(count, manner) {
      const merchants = await addMerchants(count, manner);
      await world.pool.query(`update lane set pace = 'quick' where merchant_id = any($1)`, [
        merchants.map(({ merchantId }) => merchantId),
      ]);
      return merchants;
    },
    pay: (merchants, count) =>
      forEach(count, (n) => {
        paid += 1;
        return world.pay(merchants[n % merchants.length]!, { description: `payment ${paid}` });
      }),
    callAt: async (process, method, path, body) => {
      const response = await fetch(`${process.url}/internal/v1${path}`, {
        method,
        headers: {
          'x-internal-token': internalToken,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async rotate({ merchantId }) {
      const { status: code, body } = await world.call('POST', `/merchants/${merchantId}/webhook/rotate-key`);
      if (code !== 200) throw new Error(`the key could not be rotated: ${code}`);
      book.keys.set(body.key_id, body.signing_key);
      return body.key_id;
    },
    count: (merchants, condition) => countDeliveries(world, merchants, condition),
    delivered: (merchants, count, { timeoutMs = 180_000 } = {}) =>
      eventually(
        async () => {
          const delivered = await countDeliveries(world, merchants, `status = 'delivered'`);
          if (delivered !== count) throw new Error(`${delivered} of ${count} events are delivered`);
        },
        { timeoutMs, intervalMs: 100 },
      ),
    async lapseLeases(merchants) {
      const ids = merchants.map(({ merchantId }) => merchantId);
      await world.pool.query(
        `update delivery set next_attempt_at = now() where lease_id is not null and merchant_id = any($1)`,
        [ids],
      );
      await world.pool.query(`update lane set next_due_at = now() where merchant_id = any($1)`, [ids]);
    },
    violations: async () => [...(await findViolations(world.pool)), ...findForgeries(book)],
  };
}

async function countDeliveries({ pool }: World, merchants: readonly Merchant[], condition = 'true'): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int as count from delivery where merchant_id = any($1) and ${condition}`,
    [merchants.map(({ merchantId }) => merchantId)],
  );
  return rows[0]!.count;
}

/** @returns the result of each, in order. */
async function forEach<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let n = next++; n < count; n = next++) results[n] = await work(n);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
