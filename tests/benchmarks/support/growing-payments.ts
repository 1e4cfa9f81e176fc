import { withDatabase } from '../../support/database.ts';
import { NETWORK } from './payments-process.ts';
import { addPayable } from './payable-payments.ts';
import type { PayablePayment } from './transfers.ts';

/** Payments that databases of every size have: those that transfers pay, and those that are overdue. */
const PAYABLE = 100;
const OVERDUE = 100;

export async function addOpenPayments(adminUrl: string): Promise<PayablePayment[]> {
  const payable = await addPayable(adminUrl, 1, PAYABLE);
  await addPayable(adminUrl, PAYABLE + 1, OVERDUE);
  await withDatabase(adminUrl, async (db) => {
    await db.query(
      `update payments.payment
          set created_at = now() - interval '1 hour', expires_at = now() - interval '5 minutes', expiry_check_at = now() - interval '5 minutes'
        where payment_id = any (array(select 'pay_' || md5(n::text) from generate_series($1::integer, $2::integer) n))`,
      [PAYABLE + 1, PAYABLE + OVERDUE],
    );
    await db.query('vacuum analyze payments.payment');
  });
  return payable;
}

const AT_ONCE = 25_000;

/**
 * Creates payments and closes all of them, as in a busy hour: three quarters are paid, the others expire; their messages are sent. Nothing
 * is vacuumed, so each leaves a dead row, and dead entries in the indexes over unfinished payments.
 * @param first numbers that no other call uses.
 */
export async function closeMany(adminUrl: string, first: number, count: number): Promise<void> {
  await withDatabase(adminUrl, async (db) => {
    await db.query('set search_path = payments; set synchronous_commit = off');
    await db.query(
      `create temporary table place as
         select address, merchant_id, row_number() over () - 1 as number from wallet order by random() limit 1000`,
    );
    await db.query('create unique index on place (number)');
    await db.query('analyze place');
    for (let done = 0; done < count; done += AT_ONCE) {
      const span = [first + done, first + Math.min(count, done + AT_ONCE) - 1];
      for (const step of [create, recordTransfers, close])
        await db.query(step, step === create ? [...span, NETWORK] : span);
      await db.query(sendMessages, span);
      await db.query('delete from outbox where created_at < clock_timestamp()');
    }
  });
}

const idOf = (n: string): string => `'pay_' || md5('closed ' || ${n})`;
const inSpan = `payment_id = any (array(select ${idOf('n')} from generate_series($1::bigint, $2::bigint) n))`;

const create = `
  insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                       created_at, expires_at, expiry_check_at)
  select ${idOf('n')}, merchant_id, md5('closed ' || n), sha256(('closed ' || n)::bytea), $3, address, (n + 3000000)::text,
         (n + 3000000) * 1000000::bigint, 'Order 12345, two teas', at, at + interval '30 minutes', at + interval '30 minutes'
    from (select n, date_trunc('milliseconds', clock_timestamp() - interval '1 hour') as at
            from generate_series($1::bigint, $2::bigint) n) numbered
    join place on place.number = n % (select count(*) from place)`;

const recordTransfers = `
  insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                        block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, payment_id, observed_at)
  select network, md5(payment_id) || md5(public_token), 3, 2, 'confirmed', merchant_id, 1, '0x' || md5(payment_id) || md5(payment_id),
         created_at + interval '5 minutes', '0x' || md5(payment_id), recipient, amount_units, 6, 2, 2, payment_id, now()
    from payment where ${inSpan} and right(payment_id, 1) >= '4'`;

const close = `
  update payment set status = case when right(payment_id, 1) >= '4' then 'PAID' else 'EXPIRED' end,
                     paid_at = case when right(payment_id, 1) >= '4' then created_at + interval '6 minutes' end
   where ${inSpan}`;

const sendMessages = `
  insert into outbox (message_id, name, version, merchant_id, body, request_id)
  select gen_random_uuid(), 'PaymentClosed', 1, merchant_id, description, payment_id from payment where ${inSpan}`;
