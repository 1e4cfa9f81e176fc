import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { VersionedChoice } from '@quittance/contracts/http/payments/gate.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
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

/** What a merchant may create, and what it has created. */
export type Gate = { policy: AccessPolicy; usage: Usage; webhookOk: boolean };

const policyColumns = `policy_version, access_type, account_active, creation_paused, beta_duration_days, beta_started_at,
  beta_expires_at, total_limit, daily_limit, package_number`;

type GateRow = Usage & WithDates<AccessPolicy, 'beta_started_at' | 'beta_expires_at'> & { webhook_ok: boolean };

const gateColumns = `merchant_id, ${policyColumns}, webhook_ok, used_lifetime, package_base, used_day, used_today`;

function toGate({
  webhook_ok: webhookOk,
  used_lifetime,
  package_base,
  used_day,
  used_today,
  ...policy
}: GateRow): Gate {
  return { policy: withTextTimes(policy), usage: { used_lifetime, package_base, used_day, used_today }, webhookOk };
}

/** @returns the gate without a lock, and the database's time; null for a merchant whose policy from quota has not arrived. */
export async function readGate(db: Queryable, merchantId: string): Promise<(Gate & { now: Date }) | null> {
  const { rows } = await db.query<GateRow & { now: Date }>(
    `select ${gateColumns}, now from gate, clock_timestamp() as now where merchant_id = $1 and policy_version > 0`,
    [merchantId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { now, ...gate } = row;
  return { ...toGate(gate), now };
}

/**
 * Locks merchants' gates until the transaction ends.
 * @param waits for gates that are locked; otherwise those are left out.
 * @returns the gates by merchant, without merchants whose policy from quota has not arrived.
 */
export async function lockGates(
  tx: Transaction,
  merchantIds: readonly string[],
  { waits }: { waits: boolean },
): Promise<Map<string, Gate>> {
  const { rows } = await tx.query<GateRow>({
    name: waits ? 'wait-for-gates' : 'lock-free-gates',
    text: `select ${gateColumns} from gate where merchant_id = any($1) and policy_version > 0
              for update ${waits ? '' : 'skip locked'}`,
    values: [merchantIds],
  });
  return new Map(rows.map((row) => [row.merchant_id, toGate(row)]));
}

/** Stores a policy if it is newer than the stored one. A new package counts from the usage at this time. */
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
 * @param choice the events it subscribes to, ignored when a newer choice is stored; null from a webhook-dispatcher that does not report
 *   one.
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

/** Whether the merchant of a row of `payment` subscribes to this. */
export const isChosenSql = (choice: WebhookChoice): string =>
  `coalesce((select '${choice}' = any(gate.webhook_events) from gate where gate.merchant_id = payment.merchant_id), false)`;
