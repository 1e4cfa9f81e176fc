import { PrismaPg } from '@prisma/adapter-pg';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { PrismaClient } from '../generated/client.ts';
import { toPolicy } from './store.ts';

/** The audit and the usage history answer at most this many rows, newest first. */
const MAX_ROWS = 100;

/** One change of a policy; `before` is null for the registration. */
type AuditEntry = {
  policy_version: number;
  actor: string;
  reason: string;
  before: unknown;
  after: unknown;
  changed_at: string;
};

/** Typed reads, for the operator and for payments when it asks the owner. */
export type Queries = {
  /** Null for an unknown merchant. */
  policy(merchantId: string): Promise<AccessPolicy | null>;
  /** Newest first; empty only for an unknown merchant, because a registration is a change too. */
  audit(merchantId: string): Promise<AuditEntry[]>;
  /** Days are UTC, `2026-01-31`, newest first; days without a payment are left out. */
  usage(merchantId: string): Promise<{ day: string; payments_created: number }[]>;
};

/** Prisma runs on the service's own pool, so reads and writes share one bound on connections. */
export function createQueries(pool: Pool, schema: string): Queries {
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool, { schema }) });
  const newest = <K extends string>(key: K) => ({ orderBy: { [key]: 'desc' } as Record<K, 'desc'>, take: MAX_ROWS });
  return {
    async policy(merchantId) {
      const row = await prisma.policy.findUnique({ where: { merchant_id: merchantId } });
      return row === null ? null : toPolicy(row);
    },
    async audit(merchantId) {
      const rows = await prisma.policyChange.findMany({
        where: { merchant_id: merchantId },
        ...newest('policy_version'),
      });
      return rows.map((row) => ({
        policy_version: row.policy_version,
        actor: row.actor,
        reason: row.reason,
        before: row.before,
        after: row.after,
        changed_at: rfc3339(row.changed_at),
      }));
    },
    async usage(merchantId) {
      const rows = await prisma.usageDay.findMany({ where: { merchant_id: merchantId }, ...newest('day') });
      return rows.map((row) => ({ day: row.day.toISOString().slice(0, 10), payments_created: row.payments_created }));
    },
  };
}
