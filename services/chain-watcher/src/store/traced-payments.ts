import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';

/** A payment whose trace continues when its transfer is seen. `amountUnits` are millionths of a USDT. */
export type TracedPayment = { address: string; amountUnits: bigint; traceparent: string };

/** `forgetAt`: after which no transfer is expected any more that would pay it. */
export type NewTrace = TracedPayment & { network: string; forgetAt: Date };

/** Expired rows deleted with each new one: more than come, so the table stays small. */
const FORGET_AT_ONCE = 20;

/** @param payments in the order in which they were announced: of one slot's the last one counts. */
export async function rememberTraces(tx: Transaction, payments: readonly NewTrace[]): Promise<void> {
  await tx.query(
    `insert into traced_payment (network, address, amount_units, traceparent, forget_at)
     select distinct on (network, address, amount_units) network, address, amount_units, traceparent, forget_at
       from unnest($1::text[], $2::bytea[], $3::bigint[], $4::text[], $5::timestamptz[]) with ordinality
              as payment (network, address, amount_units, traceparent, forget_at, position)
      order by network, address, amount_units, position desc
     on conflict (network, address, amount_units) do update
       set traceparent = excluded.traceparent, received_at = excluded.received_at, forget_at = excluded.forget_at`,
    [
      payments.map(({ network }) => network),
      payments.map(({ address }) => Buffer.from(address.slice(2), 'hex')),
      payments.map(({ amountUnits }) => amountUnits),
      payments.map(({ traceparent }) => traceparent),
      payments.map(({ forgetAt }) => forgetAt),
    ],
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

/** @param recipients 40 hex characters each, without 0x. */
export async function readTraces(
  db: Queryable,
  network: string,
  recipients: readonly string[],
): Promise<(Omit<TracedPayment, 'address'> & { recipient: string; receivedAt: Date })[]> {
  const { rows } = await db.query<Omit<TracedPayment, 'address'> & { recipient: string; receivedAt: Date }>(
    `select encode(address, 'hex') as recipient, amount_units as "amountUnits", traceparent, received_at as "receivedAt"
     from traced_payment where network = $1 and address = any($2)`,
    [network, recipients.map((recipient) => Buffer.from(recipient, 'hex'))],
  );
  return rows;
}
