-- What a system of 0.1.0 may hold: rows in every table, of every status. $-names are put in by the test.
set search_path = gateway;
insert into merchant (merchant_id, name) values (:'merchant', 'Old shop');
insert into merchant_activity values (:'merchant', '2026-11-22T10:00:00Z');
insert into api_key (key_hash, merchant_id) values (sha256(:'api_key'::bytea), :'merchant');
insert into rotation_secret (secret_hash, merchant_id) values (sha256('qr_old'::bytea), :'merchant');
insert into rate_limit_window values ('reads', :'merchant', '2026-11-22T10:00:00Z', '2026-11-22T10:01:00Z', 7);
insert into merchant_audit (merchant_id, action, actor, reason, after) values (:'merchant', 'register', 'olga', 'signed up', '{"name":"Old shop"}');

set search_path = quota;
insert into policy values (:'merchant', 1, 'legacy', true, false, null, null, null, 1000, null, 1, '2026-11-22T10:00:00Z');
insert into policy_change values (:'merchant', 1, 'open', 'olga', 'signed up', null, '{}', '2026-11-22T10:00:00Z');
insert into merchant_status values (:'merchant', 'active', 1);
insert into usage_day values (:'merchant', '2026-11-22', 5);

set search_path = webhooks;
insert into signing_key (key_id, merchant_id, secret_encrypted, encryption_key_id) values ('whk_1', :'merchant', decode(:'sealed', 'hex'), :'sealed_with');
insert into signing_key (key_id, merchant_id, retired_at) values ('whk_0', :'merchant', '2026-11-22T09:00:00Z');
insert into endpoint (merchant_id, url, host, active_key_id) values (:'merchant', 'https://old.example.com/webhooks', 'old.example.com', 'whk_1');
insert into event (event_id, payment_id, merchant_id, body) values ('evt_1', 'pay_paid', :'merchant', '{"status":"PAID"}'), ('evt_2', 'pay_failed', :'merchant', '{"status":"PAID"}');
insert into delivery (event_id, merchant_id, status, attempts, delivered_at) values ('evt_1', :'merchant', 'delivered', 1, '2026-11-22T10:30:00Z');
insert into delivery (event_id, merchant_id, status, attempts, error_category) values ('evt_2', :'merchant', 'failed', 9, 'http_5xx');
insert into lane (merchant_id) values (:'merchant');
do $$ declare month timestamptz := date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'; begin
  execute format('create table %I partition of attempt for values from (%L) to (%L)', 'attempt_' || to_char(month at time zone 'UTC', 'YYYYMM'), month, month + interval '1 month');
end $$;
insert into attempt values ('evt_1', gen_random_uuid(), now(), 1, 1, 'whk_1', 40, 200, null, '192.0.2.7');
insert into audit (merchant_id, action, actor) values (:'merchant', 'endpoint_configured', 'merchant');

set search_path = payments;
insert into gate (merchant_id, policy_version, access_type, account_active, creation_paused, total_limit, package_number, webhook_ok, used_lifetime, used_day, used_today)
values (:'merchant', 1, 'legacy', true, false, 1000, 1, true, 5, '2026-11-22', 5);
do $$ declare month timestamptz := date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'; begin
  execute format('create table %I partition of idempotent_reply for values from (%L) to (%L)', 'idempotent_reply_' || to_char(month at time zone 'UTC', 'YYYY_MM'), month, month + interval '1 month');
  -- As the service made it, by its own role.
  execute format('alter table %I owner to %I', 'idempotent_reply_' || to_char(month at time zone 'UTC', 'YYYY_MM'), (select tableowner from pg_tables where schemaname = current_schema and tablename = 'idempotent_reply'));
end $$;
insert into idempotent_reply values (:'merchant', 'order-1', now(), sha256('x'), '{}');
insert into wallet values (:'wallet', :'merchant', '2026-11-22T10:00:00Z');
insert into wallet_release (address, merchant_id, actor, reason, released_at) values (:'wallet', 'mer_0', 'olga', 'sold', '2026-11-22T09:00:00Z');
insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units, description, created_at, expires_at, paid_at, cancelled_at, expiry_check_at)
select 'pay_' || md5(status), :'merchant', md5('token ' || status), sha256(convert_to(md5('token ' || status), 'UTF8')), status, 'local', :'wallet',
       n || '.00', n * 1000000, 'An old order', now() - age, now() - age + interval '1 day',
       case status when 'PAID' then now() - age + interval '1 minute' end, case status when 'CANCELLED' then now() - age + interval '1 minute' end, now() - age + interval '1 day'
  from (values ('PENDING', 11, interval '1 minute'), ('PAID', 12, interval '2 days'), ('EXPIRED', 13, interval '2 days'), ('CANCELLED', 14, interval '2 days'))
       as old (status, n, age);
insert into transfer (network, transaction_id, transaction_event_index, version, phase, merchant_id, block_number, block_hash, block_timestamp, sender, recipient, amount_units, decimals, confirmations, confirmations_required, payment_id, related_payment_id, reason, observed_at)
select 'retired', repeat(digit, 64), 0, 2, 'confirmed', :'merchant', 7, '0x' || repeat(digit, 64), now() - interval '2 days', :'wallet', :'wallet', 12000000, 6, 9, 2, pays, nearest, why, now() - interval '2 days'
  from (values ('1', 'pay_' || md5('PAID'), null, null), ('2', null, 'pay_' || md5('EXPIRED'), 'underpaid')) as old (digit, pays, nearest, why);
insert into transfer_acceptance (payment_id, merchant_id, status_before, network, transaction_id, transaction_event_index, recipient, amount_units, decimals, block_number, block_hash, block_timestamp, confirmations, actor, reason, accepted_at)
values ('pay_' || md5('PAID'), :'merchant', 'EXPIRED', 'retired', repeat('1', 64), 0, :'wallet', 12000000, 6, 7, 'x', now(), 9, 'olga', 'late', now());
insert into incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
values ('paid_transfer_gone', 'pay_' || md5('PAID'), :'merchant', 'retired', repeat('1', 64), 0, 'x', now());

set search_path = chain;
insert into cursor (network, epoch, number, hash, timestamp, final_number) values ('retired', 1, 7, sha256('7'), '2026-11-22T10:00:00Z', 5);
insert into block values ('retired', 7, sha256('7'), sha256('6'), '2026-11-22T10:00:00Z', true);
insert into watch (network, address, merchant_id, watched_from, watched_until, state) values ('local', decode(substr(:'wallet', 3), 'hex'), :'merchant', now() - interval '1 minute', now() + interval '1 day', 'new');
insert into transfer (network, transaction_id, transaction_event_index, block_hash, block_number, block_timestamp, merchant_id, sender, recipient, amount_units, phase, version)
values ('retired', repeat('1', 64), 0, sha256('7'), 7, now(), :'merchant', decode(repeat('11', 20), 'hex'), decode(repeat('22', 20), 'hex'), 12000000, 'confirmed', 2);
insert into incident (network, kind, cause, detail, last_seen_at) values ('retired', 'transfer_missed', 'x', '{}', now());
insert into rescan (network, actor, reason, from_block, to_block, next_block, state, finished_at) values ('retired', 'olga', 'look again', 1, 7, 8, 'done', now());
insert into resumption (network, actor, reason, halted_at, accept_fork) values ('retired', 'olga', 'all is well', now(), false);
insert into traced_payment (network, address, amount_units, traceparent, forget_at) values ('retired', decode(repeat('22', 20), 'hex'), 12000000, '00-x', now() + interval '1 day');
