/**
 * One creation as pgbench does it: the statements that a correct creation needs, on the service's own schema, and nothing else.
 * PostgreSQL's functions make the values that the service makes itself (ids, token, reply), which takes a few microseconds. Texts
 * have a hyphen instead of a colon, because pgbench reads a colon as the start of a variable.
 *
 * Variables from outside: `clients`, `merchants`, `base` (runs are further apart than one can create), and `i`, 0.
 */

/** Every sixteenth creation uses a new wallet; the others use the merchant's own. */
export const NEW_WALLET_EVERY = 16;

const variables = `
\\set i :i + 1
\\set n :base + :i * :clients + :client_id
\\set m :n % :merchants
\\set new_wallet case when :n % ${NEW_WALLET_EVERY} = 0 then 1 else 0 end
\\set w case when :new_wallet = 1 then :n + 1000000000 else :m end`;

const merchant = `('mer_' || lpad(to_hex(:m::bigint), 32, '0'))`;
/** 36 characters, as a UUID has. */
const key = `md5(:n::text || 'key')::uuid::text`;
/** 42 characters, as an address has. */
const wallet = `('0x' || md5(:w::text) || substr(md5(:w::text), 1, 8))`;
const units = `(:n::bigint * 1000000 + 500000)`;
const network = `'local'`;

const reply = `
  left join idempotent_reply r
    on r.merchant_id = ${merchant} and r.idempotency_key = ${key} and r.created_at > now() - interval '30 days'`;

const lockGate = `
select r.fingerprint, r.body, g.*
  from (select) one ${reply}
  left join lateral (
    select merchant_id, policy_version, access_type, account_active, creation_paused, beta_duration_days, beta_started_at,
           beta_expires_at, total_limit, daily_limit, package_number, webhook_ok, used_lifetime, package_base, used_day, used_today
      from gate where merchant_id = ${merchant} and r.body is null for update) g on true;`;

const readFacts = `
select date_trunc('milliseconds', clock_timestamp()) as now, r.fingerprint, r.body,
       (select merchant_id from wallet where address = ${wallet}) as wallet_owner,
       exists (select from payment where network = ${network} and recipient = ${wallet} and amount_units = ${units}
                                     and status in ('PENDING', 'CHECKING')) as slot_taken
  from (select) one ${reply};`;

const writeCreation = `
with new as materialized (
  select 'pay_' || lpad(to_hex((extract(epoch from now()) * 1000)::bigint), 12, '0') || substr(md5(:n::text || 'id'), 1, 20) as payment_id,
         ${merchant} as merchant_id, ${wallet} as recipient,
         substr(md5(:n::text || 'a') || md5(:n::text || 'b'), 1, 43) as public_token, md5(:n::text || 'c') || md5(:n::text || 'd') as hash,
         :n::text || '.5' as amount, ${units} as amount_units, date_trunc('milliseconds', now()) as created_at
), bound as (
  insert into wallet (address, merchant_id, bound_at) select recipient, merchant_id, created_at from new where :new_wallet::integer = 1
  on conflict (address) do nothing
  returning 1
), counted as (
  update gate
     set used_lifetime = used_lifetime + 1,
         used_day = today.day,
         used_today = case when used_day = today.day then used_today + 1 else 1 end
    from (select (created_at at time zone 'UTC')::date as day, merchant_id from new) today
   where gate.merchant_id = today.merchant_id
), created as (
  insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                       created_at, expires_at, expiry_check_at)
  select payment_id, merchant_id, public_token, decode(hash, 'hex'), ${network}, recipient, amount, amount_units, 'Order 12345, two teas',
         created_at, created_at + interval '30 minutes', created_at + interval '30 minutes' from new
), saved as (
  insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body)
  select merchant_id, ${key}, created_at, decode(hash, 'hex'), convert_to(
    '{"payment_id":"' || payment_id || '","payment_url":"http-//127.0.0.1-8080/pay/' || public_token
    || '","status":"PENDING","amount":"' || amount || '","currency":"USDT","network":"local","merchant_wallet":"' || recipient
    || '","description":"Order 12345, two teas","created_at":"2026-01-31T10-00-00.000Z","expires_at":"2026-01-31T10-30-00.000Z",'
    || '"paid_at"-null,"cancelled_at"-null,"transaction"-null}', 'UTF8') from new
)
select count(*) as wallets_bound from bound;`;

const announce = `
insert into outbox (message_id, name, version, merchant_id, body, request_id)
select md5(:n::text || 'message')::uuid, 'PaymentCreated', 1, ${merchant},
       '{"payment_id":"pay_' || md5(:n::text) || '","merchant_id":"' || ${merchant} || '","network":"local","recipient":"' || ${wallet}
       || '","amount":"' || :n::text || '.5","created_at":"2026-01-31T10-00-00.000Z","expires_at":"2026-01-31T10-30-00.000Z"}',
       md5(:n::text || 'request')::uuid::text
on conflict (message_id) do nothing;`;

const statements = ['begin;', lockGate, readFacts, writeCreation, announce, 'commit;'];

/** One statement after another, each awaited: six round trips. */
export const script = [variables, ...statements].join('\n');
