/**
 * A settled transfer as pgbench does it: the rows that a correct settlement writes, in the service's own schema, and nothing else. The
 * payments are those of payable-payments.ts. No text has a colon, because pgbench reads it as the start of a variable. Variables from
 * outside: `clients`, `first` (the number of the first payment), and `i`, -1.
 */

/** Transfers that the script with sets settles in one transaction, as in payments. */
export const SET_SIZE = 200;

const values = `
  select 'pay_' || md5(n::text) as payment_id, 'mer_' || repeat('b', 32) as merchant_id, 'local' as network,
         '0x' || md5(n::text) || substr(md5(n::text), 1, 8) as recipient, md5(n::text || 'tx') || md5(n::text || 'tx2') as transaction_id,
         md5(n::text || 'message')::uuid as message_id, n
    from generate_series(:from::bigint, :to::bigint) as n`;

const remember = `
insert into inbox (handler, message_id)
select 'transfer-observed', message_id from (${values}) as t order by message_id on conflict do nothing;`;

const lock = `
select p.payment_id from (${values}) as t join payment p using (network, recipient) where p.amount_units = 7000000
 order by p.payment_id for update of p;`;

const record = `
insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash,
                      block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, payment_id, observed_at)
select network, transaction_id, 3, 1, 'confirmed', merchant_id, 1000000, '0x' || transaction_id, now(), '0x00000000000000000000000000000000000000aA',
       recipient, 7000000, 6, 2, 2, payment_id, clock_timestamp()
  from (${values}) as t order by transaction_id;`;

const pay = `
update payment set status = 'PAID', paid_at = date_trunc('milliseconds', clock_timestamp())
 where payment_id in (select payment_id from (${values}) as t) and status in ('PENDING', 'CHECKING');`;

/** Two messages, PaymentPaid and PaymentClosed, of realistic length. */
const tell = `
insert into outbox (message_id, name, version, merchant_id, body, request_id)
select md5(n::text || name)::uuid, name, 1, merchant_id, rpad('{"payment_id"', length, 'x'), md5(n::text || 'request')::uuid::text
  from (${values}) as t, (values ('PaymentPaid', 350), ('PaymentClosed', 250)) as message (name, length);`;

const script = (size: number): string =>
  [
    '\\set i :i + 1',
    `\\set from :first + (:i * :clients + :client_id) * ${size}`,
    `\\set to :from + ${size - 1}`,
    ...['begin;', remember, lock, record, pay, tell, 'commit;'],
  ].join('\n');

/** A transaction for each transfer, six statements, each awaited. */
export const oneByOne = script(1);

/** The same six statements for a set at a time. */
export const inSets = script(SET_SIZE);
