import { addressFromHex } from '@quittance/contracts/address.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import type pg from 'pg';
import { withDatabase } from '../../support/database.ts';
import { NETWORK } from './payments-process.ts';

/** A merchant has this many payments on average; but the largest has a fifth of all unless told otherwise, the second a tenth. */
const PAYMENTS_OF_A_MERCHANT = 20;

/** The largest. None of its payments is CHECKING, which makes the longest search for one. */
export const LARGEST = merchantIdOf(0);
export const SECOND = merchantIdOf(1);

/**
 * Fills payments' schema like that of a system in use for three months: 80 % of the payments PAID with their transfers, 10 % EXPIRED, a
 * tenth of those with a late transfer, 5 % CANCELLED, and 5 % unfinished. Replies of the last 30 days, inbox rows of the last 7, an
 * empty outbox. Rows and ids are in the order of time.
 * @param url the superuser's, of a database with the service's migrations. Payments that are there stay as they are.
 * @param largest the share of the largest merchant.
 */
export async function fillDatabase(url: string, size: number, { largest = 0.2 } = {}): Promise<void> {
  await withDatabase(url, async (db) => {
    // A crash may lose it all. Creating the indexes at the end is faster than updating them.
    await db.query(`set synchronous_commit = off; set search_path = payments; set maintenance_work_mem = '256MB'`);
    await addLastMonthsReplies(db);
    await addMerchants(db, Math.max(2, Math.round(size / PAYMENTS_OF_A_MERCHANT)));
    const restore = await dropIndexes(db, ['payment', 'transfer']);
    await db.query(paymentsOf, [size, NETWORK, largest]);
    await db.query(transfers);
    await restore();
    await db.query(lateTransfers);
    await db.query(replies);
    await db.query(inbox);
    await db.query(counters);
    await db.query('drop table merchants');
    await db.query('vacuum analyze');
    // Autovacuum would visit the small database often and the large one never. The outbox needs it.
    for (const table of lasting) await db.query(`alter table ${table} set (autovacuum_enabled = off)`);
    await db.query('checkpoint');
  });
}

const lasting = ['payment', 'transfer', 'gate', 'wallet', 'inbox'];

/** A system in use still has the partition of the month before. */
async function addLastMonthsReplies(db: pg.Client): Promise<void> {
  await db.query(`do $$
    declare this_month timestamp := date_trunc('month', now() at time zone 'UTC');
    begin
      execute format('create table %I partition of idempotent_reply for values from (%L) to (%L)',
                     'idempotent_reply_' || to_char(this_month - interval '1 month', 'YYYY_MM'),
                     (this_month - interval '1 month') at time zone 'UTC', this_month at time zone 'UTC');
    end $$`);
}

/** Each has a wallet, whose checksum PostgreSQL cannot calculate. */
async function addMerchants(db: pg.Client, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, number) => number);
  await db.query('create unlogged table merchants (number integer primary key, merchant_id text, wallet text)');
  await db.query('insert into merchants select * from unnest($1::integer[], $2::text[], $3::text[])', [
    numbers,
    numbers.map(merchantIdOf),
    numbers.map((number) => addressFromHex('evm', `0x${sha256(`used wallet ${number}`).toString('hex').slice(0, 40)}`)),
  ]);
  await db.query('analyze merchants');
  await db.query(
    `insert into wallet (address, merchant_id, bound_at) select wallet, merchant_id, now() - interval '90 days' from merchants`,
  );
}

/** $1 payments. The finished ones repeat their prices, as in a shop; the newest, which are unfinished, have different ones. */
const paymentsOf = `
  insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                       description, created_at, expires_at, paid_at, cancelled_at, expiry_check_at)
  select 'pay_' || replace(uuidv7(p.created_at - clock_timestamp())::text, '-', ''), m.merchant_id, p.token, sha256(p.token::bytea),
         p.status, $2, m.wallet, p.cents / 100 || '.' || lpad((p.cents % 100)::text, 2, '0'), p.cents * 10000::bigint,
         'Order ' || p.number || ', two teas', p.created_at, p.expires_at,
         case when p.status = 'PAID' then p.created_at + interval '6 minutes' end,
         case when p.status = 'CANCELLED' then p.created_at + interval '2 minutes' end, p.expires_at
    from (
      select number, merchant, token, created_at,
             case when waits and merchant > 0 and r < 0.2 then 'CHECKING' when waits then 'PENDING' when r < 0.842 then 'PAID'
                  when r < 0.947 then 'EXPIRED' else 'CANCELLED' end as status,
             case when waits then 1000000 + number else 199 + 100 * (number % 200) end as cents,
             created_at + case when waits then interval '24 hours' else interval '30 minutes' end as expires_at
        from (
          select number, number > $1 * 0.95 as waits, random() as r,
                 case when pick < $3 then 0 when pick < $3 + 0.1 then 1
                      else 2 + floor(random() * ((select count(*) from merchants) - 2))::integer end as merchant,
                 translate(left(encode(sha256(number::text::bytea), 'base64'), 43), '+/', '-_') as token,
                 date_trunc('milliseconds', case when number > $1 * 0.95
                   then now() - interval '20 hours' + (number - $1 * 0.95) / ($1 * 0.05) * interval '19 hours'
                   else now() - interval '90 days' + number / ($1 * 0.95) * interval '89 days' end) as created_at
            from (select number, random() as pick from generate_series(1, $1::integer) number) numbered
        ) timed
    ) p join merchants m on m.number = p.merchant
   order by p.number`;

const transferColumns = `network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
  block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required`;

/** Of a payment p, $delay after its creation. */
const transferOf = (phase: string, delay: string): string => `
  p.network, md5(p.payment_id) || md5(p.public_token), 3, 2, ${phase}, p.merchant_id, extract(epoch from p.created_at)::bigint / 2,
  '0x' || md5(p.created_at::text) || md5(p.created_at::text), date_trunc('seconds', p.created_at + ${delay}),
  '0x' || left(md5(p.public_token) || md5(p.payment_id), 40), p.recipient, p.amount_units, 6, 2, 2`;

const transfers = `
  insert into transfer (${transferColumns}, payment_id, observed_at)
  select ${transferOf(`case when p.status = 'PAID' then 'confirmed' else 'seen' end`, `interval '5 minutes'`)},
         p.payment_id, p.created_at + interval '5 minutes'
    from payment p join merchants using (merchant_id) where p.status in ('PAID', 'CHECKING')
   order by p.created_at`;

const lateTransfers = `
  insert into transfer (${transferColumns}, related_payment_id, reason, observed_at)
  select ${transferOf(`'confirmed'`, `interval '45 minutes'`)}, p.payment_id, 'late', p.created_at + interval '45 minutes'
    from payment p join merchants using (merchant_id) where p.status = 'EXPIRED' and random() < 0.1`;

const replies = `
  insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body)
  select merchant_id, md5(payment_id || 'key')::uuid::text, created_at, sha256(payment_id::bytea),
         convert_to(rpad('{"payment_id":"' || payment_id || '"', 440, ' '), 'UTF8')
    from payment join merchants using (merchant_id) where created_at > now() - interval '30 days' order by created_at`;

/** Of each paid payment: its transfer seen, its transfer confirmed. */
const inbox = `
  insert into inbox (handler, message_id, received_at)
  select 'transfer-observed', uuidv7(paid_at - clock_timestamp()), paid_at
    from payment join merchants using (merchant_id), generate_series(1, 2) where paid_at > now() - interval '7 days' order by paid_at`;

const counters = `
  insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, total_limit, package_number,
                    webhook_ok, used_lifetime, used_day, used_today)
  select merchant_id, 1, 'legacy', true, false, 100000000, 1, true, count(payment_id), current_date, 0
    from merchants left join payment using (merchant_id) group by merchant_id order by merchant_id`;

/** @returns a function that creates them again, with the constraints. */
export async function dropIndexes(db: pg.Client, tables: readonly string[]): Promise<() => Promise<void>> {
  const { rows: constraints } = await db.query<{ drop: string; create: string; refers: boolean }>(
    `select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
            format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as create,
            contype = 'f' as refers
       from pg_constraint
      where contype in ('p', 'u', 'f') and (conrelid = any($1::regclass[]) or confrelid = any($1::regclass[]))`,
    [tables],
  );
  const { rows: indexes } = await db.query<{ drop: string; create: string }>(
    `select format('drop index %s', indexrelid::regclass) as drop, pg_get_indexdef(indexrelid) as create
       from pg_index where indrelid = any($1::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))`,
    [tables],
  );
  const [references, keys] = [constraints.filter(({ refers }) => refers), constraints.filter(({ refers }) => !refers)];
  for (const { drop } of [...references, ...keys, ...indexes]) await db.query(drop);
  return async () => {
    for (const { create } of [...keys, ...indexes, ...references]) await db.query(create);
  };
}

/** Not the merchants that create: in a smoke run they share a stack. */
function merchantIdOf(number: number): string {
  return `mer_0f${number.toString(16).padStart(30, '0')}`;
}
