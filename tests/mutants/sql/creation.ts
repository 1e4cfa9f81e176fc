import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Creation with its limits and replies. */
export const creation: SqlMutants[] = [
  {
    file: 'services/payments/sql/creation_facts.sql',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'a clock that is set back puts a payment before the one that was in its slot',
        before: 'p.created_at >= present',
        after: 'false',
        tests: test('creation-clock'),
        noticedBy: 'does not put a payment before the one that was in its slot',
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
        breaks: 'created_at is when the transaction began, not when the gate was free',
        before: `date_trunc('milliseconds', clock_timestamp());`,
        after: `date_trunc('milliseconds', now());`,
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'an amount that an unfinished payment has is free',
        before: 'when slot.taken then null',
        after: '',
        noticedBy: 'that is taken is refused again under the same key',
      },
      {
        breaks: 'a plain payment waits beside unique amounts of its price',
        before: 'when q.amount_units % 10000 = 0',
        after: 'when false',
        tests: test('unique-amount'),
        noticedBy: 'is refused while a payment of the bare price waits, and the bare price while one near it waits',
      },
    ],
  },
  {
    file: 'services/payments/src/gate/gate.sql.ts',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'a batch waits for a gate that another transaction holds',
        before: `\${waits ? '' : 'skip locked'}`,
        after: '',
        tests: test('creation-batches'),
        noticedBy: 'what is locked is left to be decided alone',
      },
      {
        breaks: 'no gate is locked',
        before: `for update \${waits ? '' : 'skip locked'}`,
        after: '',
        tests: test('creation-races.long'),
        noticedBy: ['the last unit', 'no payment is created after a pause is in force'],
      },
    ],
  },
  {
    file: 'services/payments/src/payment/create.sql.ts',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'a slot that is taken fails the batch',
        before: `
    on conflict (network, recipient, amount_units) where \${isUnfinishedSql} do nothing`,
        after: '',
        tests: test('wallets'),
        noticedBy: 'that another merchant binds by a payment of the same amount is refused to a creation that waits',
      },
      {
        breaks: 'a merchant that is refused the slot keeps the wallet',
        before: 'created_at from done where binds_wallet',
        after: 'created_at from new where binds_wallet',
        tests: test('creation-races.long'),
        noticedBy: 'a merchant that is refused the slot on an unbound wallet does not keep the wallet',
      },
      {
        breaks: 'a merchant that is refused the slot has used one of its package',
        before: 'from done where gate.merchant_id = done.merchant_id',
        after: 'from new as done where gate.merchant_id = done.merchant_id',
        tests: test('creation-races.long'),
        noticedBy: 'requested by 50 keys of one merchant goes to one of them, and only that one counts',
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
        before: `used_day = (created_at at time zone 'UTC')::date,`,
        after: 'used_day = used_day,',
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
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
        noticedBy: 'during a long read, the sweep of replies makes new partitions',
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
