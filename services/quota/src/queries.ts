import { PrismaPg } from '@prisma/adapter-pg';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { PolicyChange, UsageDay } from '@quittance/contracts/http/quota/history.ts';
import type { AccountStatus } from '@quittance/contracts/http/quota/policy.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { withTextTimes } from '@quittance/runtime/time.ts';
import { PrismaClient } from '../generated/client.ts';
import { toPolicy } from './store.ts';

/** The audit and the usage history answer at most this many rows, newest first. */
const MAX_ROWS = 100;

/** Typed reads, for the operator and for payments. Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries(pool: Pool, schema: string) {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  const newest = <K extends string>(key: K) => ({ orderBy: { [key]: 'desc' } as Record<K, 'desc'>, take: MAX_ROWS });
  return {
    /** Null for an unknown merchant. */
    async policy(merchantId: string): Promise<AccessPolicy | null> {
      const row = await prisma.policy.findUnique({ where: { merchant_id: merchantId } });
      return row === null ? null : toPolicy(row);
    },
    /** Newest first, before a timestamp if one is given. */
    async audit(merchantId: string, before: Date | null): Promise<PolicyChange[]> {
      const rows = await prisma.policyChange.findMany({
        where: { merchant_id: merchantId, ...(before !== null && { changed_at: { lt: before } }) },
        ...newest('policy_version'),
      });
      return rows.map(({ merchant_id: _, ...row }) => withTextTimes(row) as PolicyChange);
    },
    /** Days are UTC, `2026-01-31`, newest first, before a day if one is given; days without a payment are left out. */
    async usage(merchantId: string, before: Date | null): Promise<UsageDay[]> {
      const rows = await prisma.usageDay.findMany({
        where: { merchant_id: merchantId, ...(before !== null && { day: { lt: before } }) },
        ...newest('day'),
      });
      return rows.map((row) => ({ day: row.day.toISOString().slice(0, 10), payments_created: row.payments_created }));
    },
    /** The newest account status received, and a policy version that includes it. Null before the first. */
    async accountStatus(merchantId: string): Promise<AccountStatus | null> {
      // The status first: a policy read after it includes it, because both were committed together.
      const account = await prisma.merchantStatus.findUnique({ where: { merchant_id: merchantId } });
      const policy = await prisma.policy.findUnique({ where: { merchant_id: merchantId } });
      if (account === null || policy === null) return null;
      return {
        status: account.status,
        // Every account starts with version 1, which no message carries.
        status_version: Math.max(1, account.status_version),
        policy_version: policy.policy_version,
      };
    },
  };
}

export type Queries = ReturnType<typeof createQueries>;
