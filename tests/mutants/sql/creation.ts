import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Creation with its limits, unique amounts and replies. */
export const creation: SqlMutants[] = [
  {
    file: 'services/payments/sql/creation_block_reason.sql',
    tests: test('access'),
    mutants: [
      {
        breaks: 'a blocked account creates',
        before: 'when not g.account_active then',
        after: 'when false then',
        noticedBy: 'is the first reason in the order of the contract',
      },
      {
        breaks: 'the order of the reasons',
        before: `when g.creation_paused then 'creation_paused'
    when g.access_type = 'beta' and g.beta_expires_at is null then 'beta_not_activated'`,
        after: `when g.access_type = 'beta' and g.beta_expires_at is null then 'beta_not_activated'
    when g.creation_paused then 'creation_paused'`,
        noticedBy: 'is the first reason in the order of the contract',
      },
      {
        breaks: 'a beta lasts until its end, not up to it',
        before: 'at >= g.beta_expires_at',
        after: 'at > g.beta_expires_at',
        noticedBy: 'is the expiry of a beta from that time on',
      },
      {
        breaks: 'one payment more than the package',
        before: '>= g.total_limit',
        after: '> g.total_limit',
        noticedBy: 'is the quota after the last payment',
      },
      {
        breaks: 'one payment more than the day',
        before: '>= g.daily_limit',
        after: '> g.daily_limit',
        noticedBy: 'is the quota after the last payment',
      },
      {
        breaks: 'a new package counts what the old one has used',
        before: 'g.used_lifetime - g.package_base >=',
        after: 'g.used_lifetime >=',
        noticedBy: 'counts a new package from its own start',
      },
      {
        breaks: 'yesterday counts today',
        before: `g.used_day = (at at time zone 'UTC')::date then`,
        after: 'g.used_day is not null then',
        noticedBy: 'counts a new day from 00:00 UTC',
      },
    ],
  },
  {
    file: 'services/payments/sql/create_payments.sql',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'another body under the same key is a replay',
        before: 'saved.fingerprint = (reply).fingerprint',
        after: 'true',
        noticedBy: 'with the same values in another spelling is a replay',
      },
      {
        breaks: 'a key is free before its 30 days are over',
        before: `interval '30 days'`,
        after: `interval '29 days'`,
        tests: test('replies'),
        noticedBy: 'is replayed to the byte',
      },
      {
        breaks: 'a key is taken after its 30 days',
        before: `interval '30 days'`,
        after: `interval '31 days'`,
        tests: test('replies'),
        noticedBy: 'the key is free: it makes a new payment',
      },
      {
        breaks: 'a merchant without a policy is decided about',
        before: 'and policy_version > 0 for update',
        after: 'for update',
        noticedBy: 'is given by WebhookConfigured, before or after the policy',
      },
      {
        breaks: 'a group waits for the gate that somebody holds',
        before: 'for update skip locked',
        after: 'for update',
        tests: test('creation-groups'),
        noticedBy: 'what is locked is left to be decided alone',
      },
      {
        breaks: 'a creation whose gate is locked is decided all the same',
        before: 'and g.merchant_id = any (locked)',
        after: '',
        tests: test('creation-groups'),
        noticedBy: 'what is locked is left to be decided alone',
      },
      {
        breaks: 'nobody locks the gate',
        before: ' for update skip locked',
        after: '',
        tests: test('creation-races.long'),
        noticedBy: ['the last unit', 'no payment is created after a pause is in force'],
      },
      {
        breaks: 'created_at is when the transaction began, not when the gate was free',
        before: `created := date_trunc('milliseconds', clock_timestamp());`,
        after: `created := date_trunc('milliseconds', now());`,
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'a merchant without an endpoint creates',
        before: 'when not g.webhook_ok then',
        after: 'when false then',
        noticedBy: 'of an unknown merchant and its endpoint is asked for',
      },
      {
        breaks: "a payment on another merchant's wallet",
        before: 'owner.merchant_id <> g.merchant_id then',
        after: 'false then',
        tests: test('wallets'),
        noticedBy: 'belongs to the first merchant that creates on it',
      },
      {
        breaks: 'of two merchants who take a wallet with one amount, the loser hears of the amount',
        before: '(not d.binds or exists (',
        after: '(true or exists (',
        tests: test('wallets'),
        noticedBy: 'that another merchant binds by a payment of the same amount is refused to a creation that waits',
      },
      {
        breaks: 'without wallet binding a proven wallet is shared',
        before: '(bind_wallet or owner.proven_at is not null)',
        after: 'bind_wallet',
        tests: test('wallet-proof'),
        noticedBy: 'with WALLET_BINDING=off a wallet that is proven is shared no more',
      },
      {
        breaks: 'a slot that is taken fails the group',
        before: `
    on conflict (network, recipient, amount_units) where status in ('PENDING', 'CHECKING') do nothing`,
        after: '',
        noticedBy: 'of concurrent creations for one amount on one wallet, one wins',
      },
      {
        breaks: 'a merchant that is refused the slot keeps the wallet',
        before: 'created from done where binds',
        after: 'created from composed where binds',
        tests: test('creation-races.long'),
        noticedBy: 'a merchant that is refused the slot on an unbound wallet does not keep the wallet',
      },
      {
        breaks: 'a merchant that is refused the slot has used one of its package',
        before: 'from done where gate.merchant_id = (done.payment).merchant_id',
        after: 'from composed done where gate.merchant_id = (done.payment).merchant_id',
        tests: test('creation-races.long'),
        noticedBy: 'requested by 50 keys of one merchant goes to one of them, and only that one counts',
      },
      {
        breaks: 'the key of a refused creation is answered 201 from then on',
        before: '(reply).fingerprint, reply_body from done',
        after: '(reply).fingerprint, reply_body from composed',
        noticedBy: 'that is taken is refused again under the same key',
      },
      {
        breaks: 'PaymentCreated of a payment that was refused',
        before: '(message).request_id, (message).traceparent from done',
        after: '(message).request_id, (message).traceparent from composed',
        noticedBy: 'that is taken is refused again under the same key',
      },
      {
        breaks: 'the lifetime is not counted',
        before: 'set used_lifetime = used_lifetime + 1',
        after: 'set used_lifetime = used_lifetime',
        noticedBy: 'the last unit of a quota goes to one of many',
      },
      {
        breaks: 'the first payment of a day counts yesterday’s as well',
        before: 'then used_today + 1 else 1 end',
        after: 'then used_today + 1 else used_today + 1 end',
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'the counter keeps the day on which it began',
        before: `used_day = (created at time zone 'UTC')::date,`,
        after: 'used_day = used_day,',
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'a unique amount that somebody took meanwhile is refused instead of chosen again',
        before: 'not (d.is_unique and d.units is not null)',
        after: 'true',
        tests: test('unique-amount'),
        noticedBy: 'of eleven merchants who share the address get the 99 amounts',
      },
      {
        breaks: 'the amount of the message is not the one that was chosen',
        before: `'amount', amount, 'amount_units', units`,
        after: `'amount', (payment).amount, 'amount_units', units`,
        tests: test('unique-amount'),
        noticedBy: 'who sends its exact amount pays it',
      },
      {
        breaks: 'when an expiry is looked at first',
        before: `'expiry_check_at', expires_at`,
        after: `'expiry_check_at', created`,
        changesNothing:
          'a claim also asks for expires_at <= now(), which comes later; the column only ever puts a claim off',
      },
    ],
  },
  {
    file: 'services/payments/sql/create_payment.sql',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'who loses the race for an unbound wallet is answered 500',
        before: `if violated <> 'wallet_pkey' then raise; end if;`,
        after: 'raise;',
        tests: test('wallets'),
        noticedBy: 'that another merchant binds while a creation on it waits',
      },
      {
        breaks: 'a merchant without a policy waits for nothing and is told 503',
        before: `if not found then outcome := 'unknown_merchant'; return; end if;`,
        after: '',
        noticedBy: 'of an unknown merchant and its endpoint is asked for',
      },
      {
        breaks: 'who meets a locked gate does not wait for it',
        before: 'and policy_version > 0 for update;',
        after: 'and policy_version > 0;',
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
    ],
  },
  {
    file: 'services/payments/sql/choose_unique_amount.sql',
    tests: test('unique-amount'),
    mutants: [
      {
        breaks: 'a unique amount beside a payment of the bare price',
        before: 'if price_units = any (unfinished) then return null; end if;',
        after: '',
        noticedBy: 'is refused while a payment of the bare price waits',
      },
      {
        breaks: 'an amount that another payment waits for is chosen',
        before: `where candidate.amount_units <> all (coalesce(unfinished, '{}'))`,
        after: 'where candidate.amount_units is not null',
        noticedBy: 'of one merchant get the 99 amounts',
      },
      {
        breaks: 'the bare price is one of the amounts',
        before: 'generate_series(1, 99)',
        after: 'generate_series(0, 99)',
        noticedBy: 'of one merchant get the 99 amounts',
      },
      {
        breaks: 'the highest amount is given twice',
        before: 'price_units + 9900',
        after: 'price_units + 9800',
        noticedBy: 'of one merchant get the 99 amounts',
      },
      {
        breaks: 'an amount rests for two days',
        before: `interval '24 hours'`,
        after: `interval '48 hours'`,
        noticedBy: 'is not given again for 24 hours while others are free',
      },
      {
        breaks: 'an amount does not rest',
        before: `now() - interval '24 hours'`,
        after: 'now()',
        noticedBy: 'is not given again for 24 hours while others are free',
      },
      {
        breaks: 'what closed lately is chosen before what is free',
        before: 'order by resting.closed_at nulls first, random()',
        after: 'order by resting.closed_at nulls last, random()',
        noticedBy: 'is not given again for 24 hours while others are free',
      },
      {
        breaks: 'the age of an amount is that of its first payment',
        before: 'max(coalesce(paid_at, cancelled_at, expires_at)) as closed_at',
        after: 'min(coalesce(paid_at, cancelled_at, expires_at)) as closed_at',
        noticedBy: 'is not given again for 24 hours while others are free',
      },
    ],
  },
  {
    file: 'services/payments/sql/keep_reply_partitions.sql',
    tests: test('replies'),
    mutants: [
      {
        breaks: 'the month after next has no partition',
        before: `this_month + interval '2 months'`,
        after: `this_month + interval '1 month'`,
        noticedBy: 'day after day, the sweep keeps every reply',
      },
      {
        breaks: 'a month is dropped while it holds a reply that may be replayed',
        before: `now() - interval '31 days'`,
        after: `now() - interval '20 days'`,
        noticedBy: 'day after day, the sweep keeps every reply',
      },
      {
        breaks: 'old months stay for ever',
        before: `execute format('drop table %I', partition_name);`,
        after: 'null;',
        noticedBy: 'day after day, the sweep keeps every reply',
      },
      {
        breaks: 'creations wait behind a long reader of an old month',
        before: `set_config('lock_timeout', '50ms', true)`,
        after: `set_config('lock_timeout', '0', true)`,
        noticedBy: 'beside a long reader, the sweep of replies makes new partitions',
      },
      {
        breaks: 'two replicas drop the same month',
        before: `perform pg_advisory_xact_lock(hashtextextended('idempotent_reply', 0));`,
        after: '',
        noticedBy: 'many replicas may drop old replies at once',
      },
    ],
  },
];
