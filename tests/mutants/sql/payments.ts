import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Policies at payments, settlement, expiry, the archive. */
export const payments: SqlMutants[] = [
  {
    file: 'services/payments/src/store/gate.ts',
    tests: test('creation'),
    mutants: [
      {
        breaks: 'an older policy replaces a newer one',
        before: 'where gate.policy_version < excluded.policy_version',
        after: 'where gate.policy_version <> excluded.policy_version',
        noticedBy: 'is restricted once the message is handled; older versions change nothing',
      },
      {
        breaks: 'a new package starts with what was used before',
        before: 'excluded.package_number > gate.package_number then gate.used_lifetime',
        after: 'excluded.package_number > gate.package_number then gate.package_base',
        noticedBy: 'starts at zero with a new package',
      },
    ],
  },
  {
    file: 'services/payments/src/store/payment.ts',
    tests: test('settlement'),
    mutants: [
      {
        breaks: 'a payment moves from a status that does not allow it',
        before: 'where payment_id = any($1) and status = any($3)',
        after: 'where payment_id = any($1) and (status = any($3) or true)',
        noticedBy: 'of a payment that races a transfer has one winner',
      },
      {
        breaks: 'a transfer of the next payment pays the one before it in the slot',
        before: `           order by created_at desc limit 1)
         union all`,
        after: `           order by created_at limit 1)
         union all`,
        noticedBy: 'keeps an early transfer for the old payment and a later one for the new',
      },
    ],
  },
  {
    file: 'services/payments/src/store/transfer.ts',
    tests: test('settlement'),
    mutants: [
      {
        breaks: 'an older message about a transfer replaces a newer one',
        before: 'where transfer.version < excluded.version',
        after: 'where transfer.version <> excluded.version',
        noticedBy: 'pays once, however often and in whatever order its messages come',
      },
      {
        breaks: 'a transfer that another transaction has written fails the batch',
        before: `
      on conflict (\${idColumns}) do nothing`,
        after: '',
        tests: test('settlement-batches'),
        noticedBy: 'a transfer that another transaction adds for another wallet is decided about again',
      },
      {
        breaks: 'a transfer that pays something pays the payment that is free again, too',
        before: 'and amount_units = $3 and ${paysNothingSql}',
        after: 'and amount_units = $3',
        tests: test('settlement-batches'),
        noticedBy: 'however transfers are put together, each payment has one transfer',
      },
      {
        breaks: 'who comes first for a payment that is free again',
        before: `order by phase = 'seen', block_number, transaction_event_index`,
        after: `order by phase <> 'seen', block_number, transaction_event_index`,
        tests: test('settlement-batches'),
        noticedBy: 'however transfers are put together, each payment has one transfer',
      },
    ],
  },
  {
    file: 'services/payments/src/store/expiry.ts',
    tests: test('expiry'),
    mutants: [
      {
        breaks: 'a payment is claimed before the chain is scanned so far',
        before: 'expires_at <= least(now(), $4) and',
        after: 'expires_at <= coalesce(now(), $4) and',
        noticedBy: 'is not claimed while the chain is not scanned so far',
      },
      {
        breaks: 'a payment expires from any status',
        before: 'where payment_id = any($1) and status = any($2) and expires_at <= now()',
        after: 'where payment_id = any($1) and (status = any($2) or true) and expires_at <= now()',
        noticedBy: 'is paid when only the message that confirmed its transfer was lost',
      },
      {
        breaks: 'a payment that fails alone is tried as often as before',
        before: 'least($3, $2 * 2 ^ least(coalesce(expiry_failures, 0), 20))',
        after: 'least($3, $2 * 2 ^ 0)',
        noticedBy: 'about which every question fails pauses alone, longer each time',
      },
      {
        breaks: 'how long a payment has failed is never forgotten',
        before: `interval '1 millisecond', expiry_failures = null where`,
        after: `interval '1 millisecond' where`,
        noticedBy: 'about which every question fails pauses alone, longer each time',
      },
    ],
  },
  {
    file: 'services/payments/src/store/archive.ts',
    tests: test('archive'),
    mutants: [
      {
        breaks: 'a payment goes that has changed since it was read',
        before: 'and found.sha256 = wanted.sha256',
        after: '',
        noticedBy: 'stays when something about it has changed since it was read',
      },
      {
        breaks: 'a payment goes although something about it is open',
        before: `
        and \${isOverSql(\`now() - interval '\${ARCHIVE_AFTER_DAYS} days'\`)}`,
        after: '',
        noticedBy: 'is not for the archive while',
      },
      {
        breaks: 'a removal waits for who has the payment',
        before: `order by payment_id for update skip locked`,
        after: `order by payment_id for update`,
        noticedBy: 'stays while another transaction has it',
      },
      {
        breaks: "the transfers of other merchants' payments go along",
        before: 'and p.payment_id = coalesce(t.payment_id, t.related_payment_id)',
        after: '',
        noticedBy: ['takes no other merchant’s transfers along', 'is paid for good'],
      },
      {
        breaks: 'a second removal forgets what the first one has counted of the day',
        before: 'paid_units = known.paid_units + excluded.paid_units',
        after: 'paid_units = excluded.paid_units',
        noticedBy: 'is counted beside those of its day that went before it',
      },
    ],
  },
];
