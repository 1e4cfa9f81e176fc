import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Creation: keys, slots and the gate. `npm run mutants -- creation` has the rules. */
export const creation: SqlMutants[] = [
  {
    file: 'services/payments/sql/creation_facts.sql',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'after the clock is set back, a payment is before the earlier one in its slot',
        before: 'p.created_at >= present',
        after: 'false',
        tests: test('creation-clock'),
        noticedBy: 'does not put a payment before the one that was in its slot',
      },
      {
        breaks: 'a key is free before its 30 days are over',
        before: `i.created_at > now() - interval '30 days'`,
        after: `i.created_at > now() - interval '29 days'`,
        tests: test('replies'),
        noticedBy: 'is replayed to the byte',
      },
      {
        breaks: 'a key is still used after its 30 days',
        before: `i.created_at > now() - interval '30 days'`,
        after: `i.created_at > now() - interval '31 days'`,
        tests: test('replies'),
        noticedBy: 'the key is free: it makes a new payment',
      },
      {
        breaks: 'created_at is the start of the transaction, not the time when the gate was free',
        before: `date_trunc('milliseconds', clock_timestamp());`,
        after: `date_trunc('milliseconds', now());`,
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'the amount of an unfinished payment is free',
        before: 'when slot.taken then null',
        after: '',
        noticedBy: 'that is taken is refused again under the same key',
      },
      {
        breaks: 'a plain payment waits next to unique amounts of its price',
        before: 'when q.amount_units % 10000 = 0',
        after: 'when false',
        tests: test('unique-amount'),
        noticedBy: 'is refused while a payment of the bare price waits, and the bare price while one near it waits',
      },
    ],
  },
  {
    file: 'services/payments/sql/choose_pool_address.sql',
    tests: test('pool-creation'),
    mutants: [
      {
        breaks: 'an address is given to a second payment',
        before: 'and a.free_at <= now()',
        after: '',
        noticedBy: 'rests after its payment, and is given again when the rest is over, the longest unused first',
      },
      {
        breaks: 'an address that payments share is given',
        before: `      union all
      select address_shared_until(on_network, chosen.address, rest)`,
        after: '',
        noticedBy: 'is left out while a payment shares it, and while another merchant owns it',
      },
      {
        breaks: "another merchant's address is given",
        before: 'w.merchant_id <> for_merchant',
        after: 'false',
        noticedBy: 'is left out while a payment shares it, and while another merchant owns it',
      },
      {
        breaks: 'the newest address is given first',
        before: 'order by a.source_id, a.free_at, a.place',
        after: 'order by a.source_id, a.free_at desc, a.place desc',
        noticedBy: 'of a list has an address for itself, the same one in every replay',
      },
    ],
  },
  {
    file: 'services/payments/src/gate/gate.sql.ts',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'no gate is locked',
        before: `for update \${waits ? '' : 'skip locked'}`,
        after: '',
        tests: test('creation-races.long'),
        noticedBy: ['the last unit', 'no payment is created after a pause is in force'],
      },
      {
        breaks: 'a batch waits for a gate that another transaction holds',
        before: `\${waits ? '' : 'skip locked'}`,
        after: '',
        tests: test('creation-batches'),
        noticedBy: 'what is locked is left to be decided alone',
      },
    ],
  },
  {
    file: 'services/payments/src/payment/create.sql.ts',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'a merchant that is refused the slot keeps the wallet',
        before: 'created_at from done where binds_wallet',
        after: 'created_at from new where binds_wallet',
        changesNothing:
          'the slot is read before; one that is taken in the meantime binds the wallet to its own merchant, which is a violation here',
      },
      {
        breaks: 'a merchant that is refused the slot has used one payment of its package',
        before: 'from done where gate.merchant_id = done.merchant_id',
        after: 'from new as done where gate.merchant_id = done.merchant_id',
        tests: test('creation-races.long'),
        noticedBy: 'requested by 50 merchants, without wallet binding, goes to one of them, and only that one counts',
      },
      {
        breaks: 'a slot that is taken fails the batch',
        before: `
    on conflict do nothing`,
        after: '',
        tests: test('wallets'),
        noticedBy: 'that another merchant binds by a payment of the same amount is refused to a creation that waits',
      },
      {
        breaks: 'the payments of a lifetime are not counted',
        before: 'set used_lifetime = used_lifetime + 1',
        after: 'set used_lifetime = used_lifetime',
        tests: test('creation'),
        noticedBy: 'the last unit of a quota goes to one of many',
      },
      {
        breaks: "the first payment of a day adds to yesterday's count",
        before: 'then used_today + 1 else 1 end',
        after: 'then used_today + 1 else used_today + 1 end',
        tests: test('creation-midnight.long'),
        noticedBy: 'a creation that started before midnight and got its gate after it',
      },
      {
        breaks: 'the day of the counter never changes',
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
        breaks: 'a month is dropped while one of its replies can still be replayed',
        before: `now() - interval '31 days'`,
        after: `now() - interval '20 days'`,
        noticedBy: 'day after day, the sweep keeps every reply',
      },
    ],
  },
];
