import type { PaymentClosed, PaymentCreated } from '@quittance/contracts/messages.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { columns } from '@quittance/postgres/rows.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** Longer than a payment's second message can arrive before its first. */
const KEPT_AFTER_CLOSING = '1 day';
/** Rows deleted for each payment that closes: more than are added, so the table stays small. */
const FORGOTTEN_AT_ONCE = 10;

/** These payments wait for money, unless their end is already known. */
export async function rememberUnfinished(
  tx: Transaction,
  payments: readonly Pick<PaymentCreated, 'payment_id' | 'network' | 'created_at'>[],
): Promise<void> {
  await tx.query({
    name: 'remember-unfinished',
    text: `
      insert into unfinished_payment (payment_id, network, created_at)
      select distinct on (payment_id) payment_id, network, created_at
        from unnest($1::text[], $2::text[], $3::timestamptz[]) as payment (payment_id, network, created_at)
       order by payment_id
      on conflict (payment_id) do update set created_at = excluded.created_at`,
    values: columns(payments, 'payment_id', 'network', 'created_at'),
  });
}

/** These payments wait no longer. Also deletes some that were closed long ago. */
export async function rememberClosed(
  tx: Transaction,
  payments: readonly Pick<PaymentClosed, 'payment_id' | 'network'>[],
): Promise<void> {
  await tx.query({
    name: 'remember-closed',
    text: `
      insert into unfinished_payment (payment_id, network, closed_at)
      select distinct on (payment_id) payment_id, network, now()
        from unnest($1::text[], $2::text[]) as payment (payment_id, network)
       order by payment_id
      on conflict (payment_id) do update set closed_at = excluded.closed_at`,
    values: columns(payments, 'payment_id', 'network'),
  });
  await tx.query(
    `delete from unfinished_payment where payment_id in (
       select payment_id from unfinished_payment where closed_at < now() - interval '${KEPT_AFTER_CLOSING}'
       order by closed_at limit $1 for update skip locked)`,
    [FORGOTTEN_AT_ONCE * payments.length],
  );
}

/** Whether a payment waits on this network, or did less than 15 minutes ago, or a transfer on it is not confirmed yet. */
export async function isAnybodyWaiting(db: Queryable, network: string): Promise<boolean> {
  const { rows } = await db.query<{ waits: boolean }>(
    `select exists (select from unfinished_payment where network = $1 and closed_at is null)
       or exists (select from unfinished_payment where network = $1 and closed_at > now() - interval '15 minutes')
       or exists (select from transfer where network = $1 and phase = 'seen') as waits`,
    [network],
  );
  return rows[0]?.waits === true;
}

/** Whether a payment waits that was created before this time. Payments from before this table existed are not known. */
export async function hasUnfinishedCreatedBefore(db: Queryable, network: string, before: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    'select 1 from unfinished_payment where network = $1 and closed_at is null and created_at < $2 limit 1',
    [network, before],
  );
  return rowCount === 1;
}

/** A payment whose trace continues when its transfer is seen. `amountUnits` are millionths of a USDT. */
type TracedPayment = { address: string; amountUnits: bigint; traceparent: string };

/** `forgetAt`: no transfer that pays it is expected after this time. */
export type NewTrace = TracedPayment & { network: string; forgetAt: Date };

/** Expired rows deleted for each new one: more than are added, so the table stays small. */
const FORGET_AT_ONCE = 20;

/** @param payments in the order in which they were announced. Of several with the same wallet and amount, the last one counts. */
export async function rememberTraces(tx: Transaction, payments: readonly NewTrace[]): Promise<void> {
  await tx.query(
    `insert into traced_payment (network, address, amount_units, traceparent, forget_at)
     select distinct on (network, address, amount_units) network, address, amount_units, traceparent, forget_at
       from unnest($1::text[], $2::bytea[], $3::bigint[], $4::text[], $5::timestamptz[]) with ordinality
              as payment (network, address, amount_units, traceparent, forget_at, position)
      order by network, address, amount_units, position desc
     on conflict (network, address, amount_units) do update
       set traceparent = excluded.traceparent, received_at = excluded.received_at, forget_at = excluded.forget_at`,
    columns(
      payments.map((payment) => ({ ...payment, address: Buffer.from(payment.address.slice(2), 'hex') })),
      ...(['network', 'address', 'amountUnits', 'traceparent', 'forgetAt'] as const),
    ),
  );
  await tx.query(
    `with past as materialized (
       select network, address, amount_units from traced_payment where forget_at < now() order by forget_at limit $1
       for update skip locked
     )
     delete from traced_payment using past
     where traced_payment.network = past.network and traced_payment.address = past.address
       and traced_payment.amount_units = past.amount_units`,
    [FORGET_AT_ONCE * payments.length],
  );
}

type StoredTrace = Omit<TracedPayment, 'address'> & { recipient: string; receivedAt: Date };

/** @param recipients 40 hex characters each, without 0x. */
export async function readTraces(
  db: Queryable,
  network: string,
  recipients: readonly string[],
): Promise<StoredTrace[]> {
  const { rows } = await db.query<StoredTrace>(
    `select encode(address, 'hex') as recipient, amount_units as "amountUnits", traceparent, received_at as "receivedAt"
     from traced_payment where network = $1 and address = any($2)`,
    [network, recipients.map((recipient) => Buffer.from(recipient, 'hex'))],
  );
  return rows;
}
