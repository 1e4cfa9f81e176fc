import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';
import type { VersionedChoice } from '@quittance/contracts/http/payments/webhook-choice.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { type WithDates, withTextTimes } from '@quittance/runtime/time.ts';

/** What a merchant has created so far. */
export type Usage = {
  /** All payments ever. */
  used_lifetime: number;
  /** `used_lifetime` when the current package started. */
  package_base: number;
  /** The UTC day that `used_today` counts, `2026-01-31`, or null before the first payment. */
  used_day: string | null;
  used_today: number;
};

/** What a merchant may create, what it has created, and why creation would refuse at `now`, the database's time, or null. */
export type GateReading = {
  policy: AccessPolicy;
  usage: Usage;
  webhookOk: boolean;
  now: Date;
  reason: CreationBlockReason | null;
};

const policyColumns = `policy_version, access_type, account_active, creation_paused, beta_duration_days, beta_started_at,
  beta_expires_at, total_limit, daily_limit, package_number`;

type GateColumns = Usage & WithDates<AccessPolicy, 'beta_started_at' | 'beta_expires_at'> & { webhook_ok: boolean };

/** @returns the gate without a lock, for `limits` and the operator; null for a merchant whose policy from quota has not arrived. */
export async function readGate(db: Queryable, merchantId: string): Promise<GateReading | null> {
  const { rows } = await db.query<GateColumns & { now: Date; reason: CreationBlockReason | null }>(
    `select merchant_id, ${policyColumns}, webhook_ok, used_lifetime, package_base, used_day, used_today,
            now, creation_block_reason(gate, now) as reason
       from gate, clock_timestamp() as now where merchant_id = $1 and policy_version > 0`,
    [merchantId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { now, reason, webhook_ok: webhookOk, used_lifetime, package_base, used_day, used_today, ...columns } = row;
  const usage = { used_lifetime, package_base, used_day, used_today };
  return { policy: withTextTimes(columns), usage, webhookOk, now, reason };
}

/** Stores a policy if it is newer than the one known. A new package counts from the usage at this time. */
export async function applyPolicy(db: Queryable, policy: AccessPolicy): Promise<void> {
  await db.query(
    `insert into gate (merchant_id, ${policyColumns})
     select merchant_id, ${policyColumns} from jsonb_populate_record(null::gate, $1)
     on conflict (merchant_id) do update
        set (${policyColumns}) = row(${policyColumns.replace(/\w+/g, 'excluded.$&')}),
            package_base = case when excluded.package_number > gate.package_number then gate.used_lifetime
                                else gate.package_base end
      where gate.policy_version < excluded.policy_version`,
    [policy],
  );
}

/**
 * Records that the merchant has a webhook endpoint, whether or not its policy has arrived yet.
 * @param choice what it chose to be told, unless a newer choice is known; null from a webhook-dispatcher that knows of none.
 */
export async function markWebhookConfigured(
  db: Queryable,
  merchantId: string,
  choice: VersionedChoice | null = null,
): Promise<void> {
  await db.query(
    `insert into gate (merchant_id, webhook_ok, webhook_events, webhook_version) values ($1, true, $2, $3)
     on conflict (merchant_id) do update
        set webhook_ok = true,
            webhook_events = case when ${isNewerSql} then excluded.webhook_events else gate.webhook_events end,
            webhook_version = case when ${isNewerSql} then excluded.webhook_version else gate.webhook_version end
      where not gate.webhook_ok or ${isNewerSql}`,
    [merchantId, choice?.events ?? null, choice?.version ?? null],
  );
}

const isNewerSql = `coalesce(excluded.webhook_version > coalesce(gate.webhook_version, 0), false)`;

/** Whether the merchant of a row of `payment` chose to be told this. */
export const isChosenSql = (choice: WebhookChoice): string =>
  `coalesce((select '${choice}' = any(gate.webhook_events) from gate where gate.merchant_id = payment.merchant_id), false)`;
