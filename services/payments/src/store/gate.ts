import type { AccessPolicy, CreationBlockReason } from '@quittance/contracts/access.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Usage } from '../access.ts';

/** What a merchant may create and what it has created. */
type Gate = {
  /** Null until quota was heard. */
  policy: AccessPolicy | null;
  usage: Usage;
  webhookOk: boolean;
};

/** The gate as it stands at a moment of the database's clock, and why creation would refuse then, or null. */
export type GateReading = { gate: Gate; now: Date; reason: CreationBlockReason | null };

/** @returns the gate without a lock, for `limits` and the operator. */
export async function readGate(db: Queryable, merchantId: string): Promise<GateReading | null> {
  const { rows } = await db.query<GateColumns & { now: Date; reason: CreationBlockReason | null }>(
    `select ${gateColumns}, now, creation_block_reason(gate, now) as reason
       from gate, clock_timestamp() as now where merchant_id = $1`,
    [merchantId],
  );
  const row = rows[0];
  return row === undefined ? null : { gate: toGate(row), now: row.now, reason: row.reason };
}

/** Takes over a policy if it is newer than the one known. A new package counts from the usage at this moment. */
export async function applyPolicy(db: Queryable, policy: AccessPolicy): Promise<void> {
  await db.query(
    `insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days,
                       beta_started_at, beta_expires_at, total_limit, daily_limit, package_number)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (merchant_id) do update
        set policy_version = excluded.policy_version, access_type = excluded.access_type,
            account_active = excluded.account_active, creation_paused = excluded.creation_paused,
            beta_duration_days = excluded.beta_duration_days, beta_started_at = excluded.beta_started_at,
            beta_expires_at = excluded.beta_expires_at, total_limit = excluded.total_limit,
            daily_limit = excluded.daily_limit, package_number = excluded.package_number,
            package_base = case when excluded.package_number > gate.package_number then gate.used_lifetime
                                else gate.package_base end
      where gate.policy_version < excluded.policy_version`,
    [
      policy.merchant_id,
      policy.policy_version,
      policy.access_type,
      policy.account_active,
      policy.creation_paused,
      policy.beta_duration_days,
      policy.beta_started_at,
      policy.beta_expires_at,
      policy.total_limit,
      policy.daily_limit,
      policy.package_number,
    ],
  );
}

/** Notes that the merchant has a webhook endpoint, registered here yet or not. */
export async function noteWebhook(db: Queryable, merchantId: string): Promise<void> {
  await db.query(
    `insert into gate (merchant_id, webhook_ok) values ($1, true)
     on conflict (merchant_id) do update set webhook_ok = true where not gate.webhook_ok`,
    [merchantId],
  );
}

const gateColumns = `merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days, beta_started_at,
  beta_expires_at, total_limit, daily_limit, package_number, webhook_ok, used_lifetime, package_base, used_day, used_today`;

type GateColumns = Omit<AccessPolicy, 'beta_started_at' | 'beta_expires_at'> & {
  beta_started_at: Date | null;
  beta_expires_at: Date | null;
  webhook_ok: boolean;
  used_lifetime: number;
  package_base: number;
  used_day: string | null;
  used_today: number;
};

function toGate(row: GateColumns): Gate {
  return {
    policy: row.policy_version === 0 ? null : toPolicy(row),
    usage: {
      usedLifetime: row.used_lifetime,
      packageBase: row.package_base,
      usedDay: row.used_day,
      usedToday: row.used_today,
    },
    webhookOk: row.webhook_ok,
  };
}

const toPolicy = (row: GateColumns): AccessPolicy => ({
  merchant_id: row.merchant_id,
  policy_version: row.policy_version,
  access_type: row.access_type,
  account_active: row.account_active,
  creation_paused: row.creation_paused,
  beta_duration_days: row.beta_duration_days,
  beta_started_at: row.beta_started_at && rfc3339(row.beta_started_at),
  beta_expires_at: row.beta_expires_at && rfc3339(row.beta_expires_at),
  total_limit: row.total_limit,
  daily_limit: row.daily_limit,
  package_number: row.package_number,
});
