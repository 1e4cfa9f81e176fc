import { randomBytes } from 'node:crypto';
import { newId } from '@quittance/contracts/ids.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { createKeyVault } from '@quittance/runtime/key-vault.ts';
import { migrations, schema } from '../src/migrations.ts';
import { paces, type Pace } from '../src/state.ts';
import { claimDeliveries, type ClaimBounds, type Claimed, type Outcome } from '../src/lanes/claim.sql.ts';
import { saveEndpoint } from '../src/endpoints/endpoint.sql.ts';
import { insertEvents, insertNotices, type NewNotice } from '../src/events/event.sql.ts';

export type StoreWorld = Awaited<ReturnType<typeof startStoreWorld>>;

export const failure = { error_category: 'http_5xx', http_status: 500 } as const;

/** The outcome of an attempt for a claimed delivery; a success, unless `over` changes it. */
export const outcome = (claimed: Claimed, over: Partial<Outcome> = {}): Outcome => ({
  event_id: claimed.event_id,
  lane_id: claimed.lane_id,
  lease_id: claimed.lease_id,
  cycle: claimed.cycle,
  n: claimed.attempts + 1,
  key_id: claimed.key_id,
  started_at: new Date(),
  duration_ms: 12,
  http_status: 200,
  error_category: null,
  remote_ip: '8.8.8.8',
  retry_delay_seconds: 5,
  pace: 'quick',
  ...over,
});

let beganMs = performance.now();
/**
 * Matches what is left of this many whole seconds that were set since the tables were last emptied: less by the time that has passed
 * since then, which on a busy machine is more than none.
 */
export const left = (seconds: number) => ({
  asymmetricMatch: (found: unknown) =>
    typeof found === 'number' && found <= seconds && found >= seconds - (performance.now() - beganMs) / 1000,
  toString: () => `what is left of ${seconds} seconds`,
});

/** The dispatcher's tables, and its operations on them, without a dispatcher. */
export async function startStoreWorld({ connections = 10 } = {}) {
  const database = await testDatabase({ schema, migrations });
  const pool = testPool({ url: database.url, schema, max: connections });
  const vault = createKeyVault(randomBytes(32));
  const tryClaim = ({ perLane = 8, ...over }: Partial<ClaimBounds> & { perLane?: number } = {}, db: Pool = pool) =>
    claimDeliveries(db, {
      room: 100,
      paces: paces.map((pace) => ({ pace, room: over.room ?? 100, perLane })),
      inFlight: {},
      perHost: 64,
      hosts: {},
      leaseSeconds: 45,
      ...over,
    });
  return {
    pool,
    vault,
    tryClaim,
    claim: async (...args: Parameters<typeof tryClaim>) => (await tryClaim(...args)).claimed,
    async empty(): Promise<void> {
      await pool.query('truncate lane, delivery, event, endpoint, signing_key, attempt');
      beganMs = performance.now();
    },

    /** @param pace of its lane: by default as if its receiver had answered. */
    async addMerchant(host = 'hooks.io', pace: Pace = 'quick'): Promise<string> {
      const merchantId = newId('mer');
      const keyId = newId('whk');
      const offeredKey = { keyId, ...vault.seal(keyId, 'whsec_x') };
      await transaction(pool, (tx) => saveEndpoint(tx, { merchantId, url: `https://${host}/`, host, offeredKey }));
      await pool.query('update lane set pace = $2 where merchant_id = $1', [merchantId, pace]);
      return merchantId;
    },

    async addEvent(merchantId: string, paymentId = newId('pay')): Promise<string> {
      const eventId = newId('evt');
      await transaction(pool, (tx) => insertEvents(tx, [{ eventId, merchantId, paymentId, body: Buffer.from('{}') }]));
      return eventId;
    },

    /** A notice of a merchant that subscribes to all types. */
    async addNotice(merchantId: string, over: Partial<NewNotice> = {}): Promise<string> {
      const eventId = newId('evt');
      const paymentId = newId('pay');
      const notice = { type: 'payment.expired', paymentId, occurrence: eventId, body: Buffer.from('{}') } as const;
      await pool.query('update endpoint set events = $2 where merchant_id = $1', [merchantId, webhookChoices]);
      await transaction(pool, (tx) => insertNotices(tx, [{ eventId, merchantId, ...notice, ...over }]));
      return eventId;
    },

    async stateOf(eventId: string) {
      const { rows } = await pool.query<Record<string, unknown>>(
        `select status, attempts, interruptions, error_category, lease_id is not null as leased,
                ceil(extract(epoch from next_attempt_at - now()))::int as due_in
           from delivery where event_id = $1`,
        [eventId],
      );
      return rows[0];
    },

    /** Makes the leases expire, as 45 seconds would. */
    async lapse(): Promise<void> {
      await pool.query(`update delivery set next_attempt_at = now() where lease_id is not null`);
      await pool.query(`update lane set next_due_at = now()`);
    },

    async stop() {
      await pool.end();
      await database.drop();
    },
  };
}
