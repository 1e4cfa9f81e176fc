import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Which unique amounts can be given, and which rest. */
export const uniqueAmounts: SqlMutants[] = [
  {
    file: 'services/payments/sql/keep_bare_price.sql',
    tests: test('unique-amount'),
    mutants: [
      {
        breaks: 'the bare price and a unique amount of it are given at the same time',
        before: `if not pg_try_advisory_xact_lock_shared(price_lock(on_network, to_recipient, price_units)) then return 0; end if;`,
        after: '',
        noticedBy: 'never wait together',
      },
      {
        breaks: 'a plain payment is refused for one of the same price and more',
        before: 'requested_amount is not null and',
        after: '',
        noticedBy: 'is refused while a payment of the bare price waits, and the bare price while one near it waits',
      },
    ],
  },
  {
    file: 'services/payments/sql/choose_unique_amount.sql',
    tests: test('unique-amount-choice'),
    mutants: [
      {
        breaks: 'a unique amount is given next to a payment of the bare price',
        before: `amount_units between price_units and price_units
                                       and`,
        after: 'false and',
        noticedBy: 'is not given while the bare price waits',
      },
      {
        breaks: 'an amount that another payment waits for is chosen',
        before: `status in ('PENDING', 'CHECKING') or coalesce`,
        after: 'false or coalesce',
        noticedBy: 'is not one that still waits after its time',
      },
      {
        breaks: 'the bare price is one of the amounts',
        before: 'from generate_series(1, 99) as step order by',
        after: 'from generate_series(0, 99) as step order by',
        noticedBy: 'is any of those that are free',
      },
      {
        breaks: 'the last amount is never given',
        before: 'from generate_series(1, 99) as step order by',
        after: 'from generate_series(1, 98) as step order by',
        noticedBy: 'is any of those that are free',
      },
      {
        breaks: 'a used amount is free only after two days',
        before: `expires_at) > now() - interval '24 hours'`,
        after: `expires_at) > now() - interval '48 hours'`,
        noticedBy: 'expired a little more than 24 hours ago',
      },
      {
        breaks: 'a used amount is free immediately',
        before: `expires_at) > now() - interval '24 hours'`,
        after: 'expires_at) > now()',
        noticedBy: 'expired a little less than 24 hours ago',
      },
      {
        breaks: 'the age of an amount is that of its first payment',
        before: 'order by amount_units desc, created_at desc limit 1',
        after: 'order by amount_units, created_at limit 1',
        noticedBy: 'was given twice, the last time yesterday',
      },
      {
        breaks: 'an amount whose money was accepted late is given again',
        before: 'paid_at > least(expires_at, cancelled_at)',
        after: 'false',
        noticedBy: 'was accepted today for a payment from before the last one',
      },
      {
        breaks: 'an amount with four decimals to which a waiting one is rounded is given',
        before: 'between units - 50 and units + 99',
        after: 'between units and units + 99',
        noticedBy: 'waits fifty millionths below',
      },
      {
        breaks: 'an amount with four decimals to which a waiting one is cut is given',
        before: 'between units - 50 and units + 99',
        after: 'between units - 50 and units + 98',
        noticedBy: 'waits ninety-nine millionths above',
      },
      {
        breaks: 'an amount with six decimals is given that is cut to a waiting one',
        before: 'half / 2 <> all (steps) and',
        after: '',
        noticedBy: 'is neither cut nor rounded to one that waits',
      },
      {
        breaks: 'an amount with six decimals is given that is rounded to a waiting one',
        before: 'and (half + 1) / 2 <> all (steps)',
        after: '',
        noticedBy: 'is neither cut nor rounded to one that waits',
      },
      {
        breaks: 'a waiting payment of the next cent is ignored',
        before: 'generate_series(1, 100) as step offset 0',
        after: 'generate_series(1, 99) as step offset 0',
        noticedBy: 'is not rounded to the next cent',
      },
      {
        breaks: 'not every amount with six decimals is tried',
        before: '7919 *',
        after: '50 *',
        noticedBy: 'is found if it is the only one that is free',
      },
    ],
  },
];
