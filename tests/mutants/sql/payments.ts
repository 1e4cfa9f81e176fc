import type { SqlMutants } from './mutant.ts';

const test = (name: string): string => `services/payments/test/${name}.int.test.ts`;

/** Settlement and expiry. */
export const payments: SqlMutants[] = [
  {
    file: 'services/payments/src/payment/payment.sql.ts',
    tests: test('settlement'),
    mutants: [
      {
        breaks: 'a payment moves from a status that does not allow it',
        before: 'where payment_id = any($1) and status = any($3)',
        after: 'where payment_id = any($1) and (status = any($3) or true)',
        tests: test('cancelling'),
        noticedBy: 'of a payment that races a transfer has one winner',
      },
      {
        breaks: 'a transfer of the next payment pays the one before it in the slot',
        before: 'order by created_at desc, payment_id desc limit ${SLOT_SEARCH_MAX}) begun',
        after: 'order by created_at, payment_id limit 1) begun',
        noticedBy: 'keeps an early transfer for the old payment and a later one for the new',
      },
      {
        breaks: 'the payment before the newest is ignored: its late customer pays the newest',
        before: 'where place <= 2 or is_recent)',
        after: 'where place <= 1)',
        noticedBy: 'shares money that came within five seconds of its creation with the one before it',
      },
      {
        breaks: 'a payment is cancelled before it was created, when the clock has stepped back',
        before: `cancelled_at = greatest(created_at, date_trunc('milliseconds', clock_timestamp()))`,
        after: `cancelled_at = date_trunc('milliseconds', clock_timestamp())`,
        tests: test('cancelling'),
        noticedBy: 'is never before the creation, also when the database’s clock has stepped back since',
      },
      {
        breaks: 'money does not match an older payment if the wallet has many newer ones',
        before: `amount_units >= asked.units and \${isUnfinishedSql}
               and rest_seconds is null
             order by amount_units limit`,
        after: `amount_units >= asked.units and \${isUnfinishedSql}
               and rest_seconds is null
             order by amount_units desc limit`,
        tests: test('candidates'),
        noticedBy: 'of an older payment name its money behind a hundred and fifty newer carts of amounts as near',
      },
    ],
  },
  {
    file: 'services/payments/src/settlement/transfer.sql.ts',
    tests: test('settlement'),
    mutants: [
      {
        breaks: 'an older message about a transfer replaces a newer one',
        before: 'where transfer.version < excluded.version',
        after: 'where transfer.version <> excluded.version',
        noticedBy: 'pays once, however often and in whatever order its messages come',
      },
      {
        breaks: 'a later first reading replaces an earlier one',
        before: "first_seen_at = least(${readingOf('transfer.')}, excluded.first_seen_at)",
        after: 'first_seen_at = excluded.first_seen_at',
        tests: test('known-before'),
        noticedBy: 'when a later one has a later one: after a reorganisation it was read in another block',
      },
      {
        breaks: 'an earlier first reading in a later message is ignored',
        before: "first_seen_at = least(${readingOf('transfer.')}, excluded.first_seen_at)",
        after: "first_seen_at = ${readingOf('transfer.')}",
        tests: test('known-before'),
        noticedBy: 'when a later one has an earlier one: what it paid is free again',
      },
      {
        breaks: 'a transfer whose message does not say when it was first read was never read',
        before: `'coalesce(first_seen_at, clock_timestamp()), live'`,
        after: `'first_seen_at, live'`,
        tests: test('known-before'),
        noticedBy: 'by a message that does not say when: then it is known since it came',
      },
      {
        breaks: 'no notice is sent for money that a review reports first',
        before: `\${newReading}, false
`,
        after: `\${newReading}, true
`,
        tests: test('unmatched-notices'),
        noticedBy: 'when it is first known by a review',
      },
      {
        breaks: 'a payment that is PAID stays a candidate of other money',
        before: 'from transfer where candidates && $1::text[]) as counted',
        after: 'from transfer where false) as counted',
        tests: test('candidates'),
        noticedBy: 'is counted again when one of them is paid by other money',
      },
      {
        breaks: 'the last of several candidates is not named',
        before: 'related_payment_id = case when cardinality(remaining) = 1 then remaining[1] end',
        after: 'related_payment_id = null',
        tests: test('candidates'),
        noticedBy: 'is counted again when one of them is paid by other money',
      },
      {
        breaks: 'money with several candidates is not counted in the notice of the expiry',
        before: `where candidates @> array[asked.payment_id] and match_status = 'unmatched') as t`,
        after: `where false) as t`,
        tests: test('unmatched-notices'),
        noticedBy: 'is counted in the notice of the expiry, whatever it lacks',
      },
      {
        breaks: 'money that came after the expiry is never explained',
        before: "and block_timestamp >= payment.expires_at - $2 * interval '1 ms'",
        after: "and block_timestamp < payment.expires_at - $2 * interval '1 ms'",
        tests: test('unmatched-notices'),
        noticedBy: 'as late when its payment expires, and not before',
      },
      {
        breaks: 'a transfer that another transaction wrote fails the batch',
        before: `
      on conflict (\${idColumns}) do nothing`,
        after: '',
        tests: test('settlement-batches'),
        noticedBy: 'a transfer that another transaction adds for another wallet is decided about again',
      },
      {
        breaks: 'a transfer that pays one payment also pays another that became unpaid',
        before: 'and amount_units = $3 and ${paysNothingSql}',
        after: 'and amount_units = $3',
        tests: test('settlement-batches'),
        noticedBy: 'however transfers are put together, each payment has one transfer',
      },
      {
        breaks: 'the wrong transfer pays a payment that became unpaid',
        before: `order by phase = 'seen', block_number, transaction_event_index`,
        after: `order by phase <> 'seen', block_number, transaction_event_index`,
        tests: test('settlement-batches'),
        noticedBy: 'however transfers are put together, each payment has one transfer',
      },
    ],
  },
  {
    file: 'services/payments/src/expiry/expiry.sql.ts',
    tests: test('expiry'),
    mutants: [
      {
        breaks: 'a payment is claimed before the chain is scanned up to its expiry',
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
        breaks: 'a payment that fails alone is retried without growing pauses',
        before: 'least($3, $2 * 2 ^ least(coalesce(expiry_failures, 0), 20))',
        after: 'least($3, $2 * 2 ^ 0)',
        noticedBy: 'about which every question fails pauses alone, longer each time',
      },
      {
        breaks: 'the failures of a payment are never reset',
        before: `interval '1 millisecond', expiry_failures = null where`,
        after: `interval '1 millisecond' where`,
        noticedBy: 'about which every question fails pauses alone, longer each time',
      },
    ],
  },
  {
    file: 'services/payments/src/expiry/expiry.sql.ts',
    tests: test('unread-networks'),
    mutants: [
      {
        breaks: 'a payment on a disabled network expires immediately at its time',
        before: `expires_at < now() - interval '\${UNREAD_GRACE}'`,
        after: 'expires_at < now()',
        noticedBy: 'a payment on a network that is no longer enabled expires a day after its time',
      },
      {
        breaks: 'payments on networks that are read expire with them',
        before: 'select id from network where id <> all ($1)',
        after: 'select id from network where id is not null and $1::text[] is not null',
        noticedBy: 'a payment on a network that is no longer enabled expires a day after its time',
      },
    ],
  },
  {
    file: 'services/payments/src/settlement/unmatched-notice.sql.ts',
    tests: test('candidates'),
    mutants: [
      {
        breaks: 'the notice of a merchant names payments of another merchant',
        before: 'join payment p on p.payment_id = c.id and p.merchant_id = gate.merchant_id order by nearness',
        after: 'join payment p on p.payment_id = c.id order by nearness',
        noticedBy: 'notifies each with its own payment, and that another merchant has one',
      },
      {
        breaks: 'the notice of a merchant omits that another merchant has a candidate',
        before: 'and p.merchant_id <> gate.merchant_id)',
        after: 'and p.merchant_id <> p.merchant_id)',
        noticedBy: 'notifies each with its own payment, and that another merchant has one',
      },
    ],
  },
  {
    file: 'services/payments/src/settlement/parts.sql.ts',
    tests: test('parts'),
    mutants: [
      {
        breaks: 'a part pays before it is confirmed',
        before: "filter (where phase = 'confirmed' and confirmed_units >= enough))[1] as confirmed",
        after: 'filter (where seen_units >= enough))[1] as confirmed',
        noticedBy: 'is CHECKING when the parts that are seen suffice, and waits again when one of them is retracted',
      },
      {
        breaks: 'a part that is gone from the chain still counts',
        before: "and t.phase <> 'retracted' and t.version > 0`;",
        after: 'and t.version > 0`;',
        noticedBy: 'is CHECKING when the parts that are seen suffice, and waits again when one of them is retracted',
      },
      {
        breaks: 'money that came too late counts',
        before: "where t.related_payment_id = p.payment_id and (t.reason is null or t.reason = 'underpaid')\n     --",
        after: 'where t.related_payment_id = p.payment_id\n     --',
        noticedBy: 'is accepted by its merchant with everything that has arrived, also after its time',
      },
      {
        breaks: 'less than what is enough pays',
        before: 'coalesce(p.accept_from_percent, 100) * 0.01 as enough',
        after: 'coalesce(p.accept_from_percent, 100) * 0.009 as enough',
        noticedBy: 'is PAID from accept_from_percent of the amount on, and not below',
      },
      {
        breaks: 'what only an acceptance found counts by itself',
        before: "(reason is null or reason = 'underpaid') and version > 0`",
        after: "(reason is null or reason = 'underpaid')`",
        noticedBy: 'does not count what only an acceptance found, until its message comes',
      },
      {
        breaks: 'a part may carry another amount after it has paid',
        before: 'p.paid_units <> sum(',
        after: 'p.paid_units is null and 1 <> sum(',
        noticedBy: 'stays PAID when a part carries another amount, and there is an incident',
      },
      {
        breaks: 'an acceptance counts only what came in time',
        before: "which === 'in time' ?",
        after: 'which !== null ?',
        noticedBy: 'is accepted by its merchant with everything that has arrived, also after its time',
      },
    ],
  },
  {
    file: 'services/payments/src/archive/archive.sql.ts',
    tests: test('archive'),
    mutants: [
      {
        breaks: 'a payment is archived although something about it is unsettled',
        before: `
        and \${isOverSql(\`now() - interval '\${ARCHIVE_AFTER_DAYS} days'\`)}`,
        after: '',
        noticedBy: 'is not archived while',
      },
      {
        breaks: "transfers of other merchants' payments are archived with it",
        before: 'and p.payment_id = coalesce(t.payment_id, t.related_payment_id)',
        after: '',
        noticedBy: ['takes no other merchant’s transfers with it', 'is paid for good'],
      },
      {
        breaks: 'a second removal replaces the totals of the day instead of adding to them',
        before: 'paid_units = known.paid_units + excluded.paid_units',
        after: 'paid_units = excluded.paid_units',
        noticedBy: 'is added to the totals of those of its day archived before it',
      },
    ],
  },
];
