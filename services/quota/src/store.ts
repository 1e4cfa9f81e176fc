import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Author } from '@quittance/contracts/author.ts';
import type { MerchantStatusChanged } from '@quittance/contracts/messages.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { withTextTimes, type WithDates } from '@quittance/runtime/time.ts';

/** A row of `policy`. A check of the table allows only the two access types. */
export type PolicyRow = Omit<WithDates<AccessPolicy, 'beta_started_at' | 'beta_expires_at'>, 'access_type'> & {
  access_type: string;
  changed_at: Date;
};

const policyColumns = `policy_version, access_type, account_active, creation_paused, beta_duration_days, beta_started_at,
  beta_expires_at, total_limit, daily_limit, package_number`;

/** The policy as on the wire. */
export const toPolicy = ({ changed_at: _, ...row }: PolicyRow): AccessPolicy => withTextTimes(row) as AccessPolicy;

/**
 * Locks a merchant's policy until the transaction ends, and reads the database's clock after the lock is held.
 * @returns null if the merchant is not registered.
 */
export async function lockPolicy(
  tx: Transaction,
  merchantId: string,
): Promise<{ policy: AccessPolicy; now: Date } | null> {
  const { rows } = await tx.query<PolicyRow & { now: Date }>(
    `with locked as materialized (select * from policy where merchant_id = $1 for update)
     select *, clock_timestamp()::timestamptz(3) as now from locked`,
    [merchantId],
  );
  if (rows[0] === undefined) return null;
  const { now, ...row } = rows[0];
  return { policy: toPolicy(row), now };
}

/** @returns the time of registration on the database's clock, or null if the merchant is already registered. */
export async function insertPolicy(tx: Transaction, policy: AccessPolicy): Promise<Date | null> {
  const { rows } = await tx.query<{ changed_at: Date }>(
    `insert into policy (merchant_id, ${policyColumns}, changed_at)
     select merchant_id, ${policyColumns}, clock_timestamp() from jsonb_populate_record(null::policy, $1)
     on conflict (merchant_id) do nothing
     returning changed_at`,
    [policy],
  );
  return rows[0]?.changed_at ?? null;
}

/** Writes the next version of a policy that this transaction has locked. */
export async function updatePolicy(tx: Transaction, policy: AccessPolicy, changedAt: Date): Promise<void> {
  await tx.query(
    `update policy
        set (${policyColumns}, changed_at)
          = (select ${policyColumns}, $2::timestamptz from jsonb_populate_record(null::policy, $1))
      where merchant_id = $3`,
    [policy, changedAt, policy.merchant_id],
  );
}

/** One row of the audit log. `before` is null for a registration. */
export type PolicyChange = Author & {
  /** The operator's command: `activate`, `limits`, `move-to-beta`, … */
  action: string;
  before: AccessPolicy | null;
  after: AccessPolicy;
  changedAt: Date;
};

export async function insertPolicyChange(tx: Transaction, change: PolicyChange): Promise<void> {
  await tx.query(
    `insert into policy_change (merchant_id, policy_version, action, actor, reason, before, after, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      change.after.merchant_id,
      change.after.policy_version,
      change.action,
      change.actor,
      change.reason,
      change.before === null ? null : JSON.stringify(change.before),
      JSON.stringify(change.after),
      change.changedAt,
    ],
  );
}

/**
 * Stores a merchant's account status if it is the newest. The merchant may not be registered yet.
 * @returns false if this version or a newer one is already stored.
 */
export async function saveMerchantStatus(tx: Transaction, change: MerchantStatusChanged): Promise<boolean> {
  const { rowCount } = await tx.query(
    `insert into merchant_status (merchant_id, status, status_version) values ($1, $2, $3)
     on conflict (merchant_id) do update set status = excluded.status, status_version = excluded.status_version
      where merchant_status.status_version < excluded.status_version`,
    [change.merchant_id, change.status, change.status_version],
  );
  return rowCount === 1;
}

/**
 * Locks a merchant's account status, so that a concurrent status change waits for the registration.
 * @returns 'active' if none is stored yet.
 */
export async function lockMerchantStatus(tx: Transaction, merchantId: string): Promise<string> {
  const { rows } = await tx.query<{ status: string }>(
    `insert into merchant_status (merchant_id, status, status_version) values ($1, 'active', 0)
     on conflict (merchant_id) do update set status = merchant_status.status
     returning status`,
    [merchantId],
  );
  return rows[0]?.status ?? 'active';
}

/**
 * Adds payments to their UTC days. It writes one row for each merchant and day, for any number of payments.
 * @param payments.created_at RFC 3339, from the message.
 */
export async function countCreatedPayments(
  tx: Transaction,
  payments: readonly { merchant_id: string; created_at: string }[],
): Promise<void> {
  await tx.query({
    name: 'count-created-payments',
    text: `
      insert into usage_day (merchant_id, day, payments_created)
      select merchant_id, (created_at at time zone 'UTC')::date as day, count(*)
        from unnest($1::text[], $2::timestamptz[]) as payment (merchant_id, created_at)
       group by merchant_id, day
       order by merchant_id, day
      on conflict (merchant_id, day) do update
        set payments_created = usage_day.payments_created + excluded.payments_created`,
    values: [payments.map(({ merchant_id: id }) => id), payments.map(({ created_at: createdAt }) => createdAt)],
  });
}
