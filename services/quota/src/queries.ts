import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Violation, CreatedPayments } from '@quittance/contracts/http/check.ts';
import type { PolicyChange, UsageDay, AccountStatus } from '@quittance/contracts/http/quota.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import type { PrismaClient } from '../generated/client.ts';
import { toPolicy, type PolicyRow } from './store.ts';

/** Rows per answer of the audit log and the usage history. */
const MAX_ROWS = 100;

/**
 * Reads, for operators and for payments. Prisma runs on the service's own pool, so reads and writes share one limit of connections. An
 * operator's first read loads it: it takes 20 MB, and payments must not wait for it.
 */
export function createQueries(pool: Pool, schema: string) {
  let loaded: Promise<PrismaClient> | null = null;
  const prisma = () => (loaded ??= loadPrisma(pool, schema));
  const newest = <K extends string>(key: K) => ({ orderBy: { [key]: 'desc' } as Record<K, 'desc'>, take: MAX_ROWS });
  return {
    /** Null for an unknown merchant. */
    async policy(merchantId: string): Promise<AccessPolicy | null> {
      const { rows } = await pool.query<PolicyRow>('select * from policy where merchant_id = $1', [merchantId]);
      return rows[0] === undefined ? null : toPolicy(rows[0]);
    },
    /** Newest first; only changes before a timestamp if one is given. */
    async audit(merchantId: string, before: Date | null): Promise<PolicyChange[]> {
      const { policyChange } = await prisma();
      const rows = await policyChange.findMany({
        where: { merchant_id: merchantId, ...(before !== null && { changed_at: { lt: before } }) },
        ...newest('policy_version'),
      });
      return rows.map(({ merchant_id: _, ...row }) => withTextTimes(row) as PolicyChange);
    },
    /** UTC days, `2026-01-31`, newest first; only days before a day if one is given. Days without a payment are left out. */
    async usage(merchantId: string, before: Date | null): Promise<UsageDay[]> {
      const { usageDay } = await prisma();
      const rows = await usageDay.findMany({
        where: { merchant_id: merchantId, ...(before !== null && { day: { lt: before } }) },
        ...newest('day'),
      });
      return rows.map((row) => ({ day: row.day.toISOString().slice(0, 10), payments_created: row.payments_created }));
    },
    /** Merchants for which the usage history, up to a UTC midnight, has a different number of payments than the payments service. */
    async otherUsage(merchants: readonly CreatedPayments[], until: Date): Promise<Violation[]> {
      const { rows } = await pool.query<{ what: string }>(
        `select format('%s created %s until %s, of which the history has %s', merchant_id, created, $3::timestamptz, counted) as what
           from unnest($1::text[], $2::bigint[]) as said (merchant_id, created)
          cross join lateral (
            select coalesce(sum(payments_created), 0) as counted from usage_day
             where usage_day.merchant_id = said.merchant_id and day < ($3::timestamptz at time zone 'UTC')::date) history
          where counted <> created`,
        [merchants.map(({ merchant_id: id }) => id), merchants.map(({ created }) => created), until],
      );
      return rows.map(({ what }) => ({ rule: 'the history of usage has every payment once', what }));
    },
    /** The newest account status received, and a policy version that includes it; null before the first one. */
    async accountStatus(merchantId: string): Promise<AccountStatus | null> {
      // Every account starts with version 1, which is in no message.
      const { rows } = await pool.query<AccountStatus>(
        `select status, greatest(1, status_version) as status_version, policy_version
           from merchant_status join policy using (merchant_id) where merchant_id = $1`,
        [merchantId],
      );
      return rows[0] ?? null;
    },
  };
}

export type Queries = ReturnType<typeof createQueries>;

async function loadPrisma(pool: Pool, schema: string): Promise<PrismaClient> {
  const [{ PrismaPg }, { PrismaClient }] = await Promise.all([
    import('@prisma/adapter-pg'),
    import('../generated/client.ts'),
  ]);
  return new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
}
