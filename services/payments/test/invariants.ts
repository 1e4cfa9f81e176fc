import { findBroken } from '@quittance/postgres/broken-rules.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { counterRules, paymentRules } from '../src/operators/check.sql.ts';

/** A message that left this service. */
type SentMessage = { message_id: string; name: string; body: string };

/** Facts that the rows alone do not contain, or that narrow the check. */
export type Observations = {
  /** Only these merchants' rows; without it, all. */
  merchants?: readonly string[];
  /** Every 201 answer to a creation, including replays. */
  answered?: readonly { merchantId: string; idempotencyKey: string; body: string }[];
  /** Messages that have left the outbox since, as their consumers got them; null when they were not kept: then they are not checked. */
  received?: readonly SentMessage[] | null;
  /** Payments that were PAID at an earlier check. */
  wasPaid?: readonly string[];
  /** True when no limit was ever lowered and no package was started, so that no count can be above its limit. */
  limitsStood?: boolean;
};

/**
 * Looks for violations of the invariants, which hold at any moment without a running transaction, whatever was killed, repeated, reordered
 * or raced. I1 one transfer, one payment, and enough of them · I2 one unfinished payment a slot · I3 counters are the payments, counted · I4 saved replies are
 * whole · I5 every 201 has its payment · I6 a key has one payment · I7 PAID, and once said so · I10 PAID stays, a payment closes once.
 * @param db on the search path of the payments schema.
 * @returns a line for each violation; none when all is well.
 */
export async function findViolations(db: Queryable, witness: Observations = {}): Promise<string[]> {
  const broken = await findBroken(db, rules, [witness.merchants ?? null]);
  const found = broken.map(({ rule, what }) => `${rule}: ${what}`);
  if (witness.limitsStood === true) found.push(...(await findAboveLimit(db, witness)));
  found.push(
    ...(await findLost(db, witness)),
    ...(await findUnpaid(db, witness)),
    ...(await findMessages(db, witness)),
  );
  return found;
}

const inScope = (alias: string): string => `($1::text[] is null or ${alias}.merchant_id = any($1))`;

/** The transfers that have paid a payment `p` together, or alone. */
const paying = `t.payment_id = p.payment_id or (t.related_payment_id = p.payment_id and t.counted)`;
const isAccepted = `exists (select from transfer_acceptance a where a.payment_id = p.payment_id)`;

/** Each selects the violations as text. */
const rules: Record<string, string> = {
  ...paymentRules(inScope),
  ...counterRules(inScope),
  'I1 a transfer counts for one payment, which is PAID': `
    select format('%s counts for %s, and pays %s', t.transaction_id, t.related_payment_id, t.payment_id) as what
      from transfer t left join payment p on p.payment_id = t.related_payment_id
     where ${inScope('t')} and t.counted and t.observed_at > now() - interval '90 days'
       and (t.payment_id is not null or t.candidates is not null or p.rest_seconds is null or p.status <> 'PAID')`,
  'I1 an address of its own is PAID by what is enough, or by acceptance': `
    select format('%s is PAID with %s of %s', p.payment_id, p.paid_units, p.amount_units) as what
      from payment p
     where ${inScope('p')} and p.rest_seconds is not null and p.status = 'PAID' and not ${isAccepted}
       and coalesce(p.paid_units, 0) < p.amount_units * coalesce(p.accept_from_percent, 100) * 0.01`,
  'I1 what has paid an address of its own is there, or there is an incident': `
    select format('%s is PAID with %s, and %s are there', p.payment_id, p.paid_units, sum(t.amount_units)) as what
      from payment p left join transfer t on (${paying}) and t.phase <> 'retracted' and t.recipient = p.recipient
     where ${inScope('p')} and p.rest_seconds is not null and p.status = 'PAID'
       and not exists (select from incident i where i.payment_id = p.payment_id)
     group by p.payment_id having p.paid_units is distinct from sum(t.amount_units * ('1e' || 6 - t.decimals)::numeric)`,
  'I18 a part that was known before the payment does not count': `
    select format('%s of %s counts %s, known since %s', p.payment_id, p.created_at, t.transaction_id, t.first_seen_at) as what
      from payment p join transfer t on ${paying}
     where ${inScope('p')} and p.rest_seconds is not null and p.status = 'PAID' and t.first_seen_at < p.created_at and not ${isAccepted}`,
  'I1 a transfer pays a payment that is here, or was long ago': `
    select format('%s pays %s, which is not there', transaction_id, payment_id) as what
      from transfer t where ${inScope('t')} and observed_at > now() - interval '90 days'
       and payment_id is not null and not exists (select from payment p where p.payment_id = t.payment_id)`,
  'I4 a saved reply is its payment': `
    select format('%s %s: %s', r.merchant_id, r.idempotency_key, convert_from(r.body, 'UTF8')) as what
      from idempotent_reply r
      cross join lateral (select convert_from(r.body, 'UTF8')::jsonb as json) b
      left join payment p on p.payment_id = b.json ->> 'payment_id'
     where ${inScope('r')}
       and (p.payment_id is null or p.merchant_id <> r.merchant_id or b.json ->> 'status' <> 'PENDING'
            or p.amount <> b.json ->> 'amount' or p.recipient <> b.json ->> 'merchant_wallet'
            or p.network <> b.json ->> 'network' or p.description <> b.json ->> 'description'
            or p.created_at <> (b.json ->> 'created_at')::timestamptz or p.expires_at <> (b.json ->> 'expires_at')::timestamptz
            or right(b.json ->> 'payment_url', 44) <> '/' || p.public_token)`,
  'I6 a key makes one payment': `
    select format('%s %s: %s replies', merchant_id, idempotency_key, count(*)) as what
      from (select *, lag(created_at) over (partition by merchant_id, idempotency_key order by created_at) as before
              from idempotent_reply r where ${inScope('r')}) r
     where created_at < before + interval '30 days' group by merchant_id, idempotency_key`,
  'I6 a payment has one key': `
    select format('%s: %s replies', payment_id, count(r.body)) as what
      from payment p
      left join (select *, convert_from(body, 'UTF8')::jsonb ->> 'payment_id' as made from idempotent_reply) r
        on r.merchant_id = p.merchant_id and r.made = p.payment_id
     where ${inScope('p')}
       -- Replies are forgotten a month after the last of their month.
       and p.created_at >= (select min(created_at) from idempotent_reply i where ${inScope('i')})
     group by payment_id having count(r.body) <> 1`,
};

async function findAboveLimit(db: Queryable, { merchants }: Observations): Promise<string[]> {
  const { rows } = await db.query<{ what: string }>(
    `select format('I3 no limit is overrun: %s created %s of %s, and %s of %s on %s', merchant_id, used_lifetime - package_base,
                   total_limit, used_today, daily_limit, used_day) as what
       from gate g where policy_version > 0 and ${inScope('g')}
        and (used_lifetime - package_base > total_limit or used_today > daily_limit)`,
    [merchants ?? null],
  );
  return rows.map(({ what }) => what);
}

/** I4, I5: every answered payment exists, and all answers to one key are the same bytes. */
async function findLost(db: Queryable, { answered = [] }: Observations): Promise<string[]> {
  const idOf = (body: string): string => (JSON.parse(body) as { payment_id: string }).payment_id;
  const { rows } = await db.query<{ payment_id: string; merchant_id: string }>(
    'select payment_id, merchant_id from payment where payment_id = any($1)',
    [answered.map(({ body }) => idOf(body))],
  );
  const ownerOf = new Map(rows.map((row) => [row.payment_id, row.merchant_id]));
  const lost = answered
    .filter(({ merchantId, body }) => ownerOf.get(idOf(body)) !== merchantId)
    .map(({ merchantId, body }) => `I5 every 201 has its payment: ${merchantId} was answered ${body}`);

  const byPayment = new Map<string, string>();
  const changed = answered.filter(({ body }) => {
    const first = byPayment.get(idOf(body)) ?? body;
    byPayment.set(idOf(body), first);
    return first !== body;
  });
  return [...lost, ...changed.map(({ body }) => `I4 a replay repeats the bytes: ${body}`)];
}

async function findUnpaid(db: Queryable, { wasPaid = [] }: Observations): Promise<string[]> {
  const { rows } = await db.query<{ payment_id: string }>(
    `select payment_id from payment where payment_id = any($1) and status = 'PAID'`,
    [wasPaid],
  );
  const paid = new Set(rows.map((row) => row.payment_id));
  return wasPaid.filter((id) => !paid.has(id)).map((id) => `I10 PAID is final: ${id} is no longer PAID`);
}

type Row = {
  payment_id: string;
  status: string;
  amount: string;
  description: string;
  transaction_id: string | null;
  transaction_event_index: number | null;
};

type Payload = Partial<Row> & { expected_amount?: string };

/** I7, I10: for each payment there is one message of its creation, at most one of its closing, and one when it was paid. */
async function findMessages(db: Queryable, { merchants, received = [] }: Observations): Promise<string[]> {
  if (received === null) return [];
  const { rows: waiting } = await db.query<SentMessage>(
    `select message_id::text, name, body from outbox o where name in ('PaymentCreated', 'PaymentClosed', 'PaymentPaid') and ${inScope('o')}`,
    [merchants ?? null],
  );
  const { rows: payments } = await db.query<Row>(
    `select p.payment_id, p.status, p.amount, p.description, t.transaction_id, t.transaction_event_index
       from payment p left join transfer t on t.payment_id = p.payment_id where ${inScope('p')}`,
    [merchants ?? null],
  );
  // The relay deletes a row after sending it, so a message may be in both.
  const messages = new Map([...received, ...waiting].map((message) => [message.message_id, message]));
  const byPayment = new Map<string, { name: string; payload: Payload }[]>();
  for (const { name, body } of messages.values()) {
    const payload = JSON.parse(body) as Payload;
    const id = payload.payment_id ?? '';
    byPayment.set(id, [...(byPayment.get(id) ?? []), { name, payload }]);
  }
  const violations = payments.flatMap((payment) => aboutMessages(payment, byPayment.get(payment.payment_id) ?? []));
  const known = new Set(payments.map(({ payment_id: id }) => id));
  const invented = [...byPayment.keys()].filter((id) => !known.has(id));
  return [...violations, ...invented.map((id) => `I5 nothing is said of a payment that is not there: ${id}`)];
}

function aboutMessages(payment: Row, messages: { name: string; payload: Payload }[]): string[] {
  const of = (name: string): Payload[] =>
    messages.filter((message) => message.name === name).map(({ payload }) => payload);
  const created = of('PaymentCreated').length;
  const closed = of('PaymentClosed').map(({ status }) => status);
  const paid = of('PaymentPaid');
  const isPaid = payment.status === 'PAID';
  const isOpen = payment.status === 'PENDING' || payment.status === 'CHECKING';
  const sound = paid.every(
    (payload) =>
      payload.expected_amount === payment.amount &&
      payload.description === payment.description &&
      payload.transaction_id === payment.transaction_id &&
      payload.transaction_event_index === payment.transaction_event_index,
  );
  const closedWell = isOpen ? closed.length === 0 : closed.length === 1 && (isPaid || closed[0] === payment.status);
  const facts: [boolean, string][] = [
    [created === 1, `I5 a creation is said once: said ${created} times`],
    [paid.length === (isPaid ? 1 : 0), `I7 PAID is said once: said ${paid.length} times`],
    [sound, `I7 PaymentPaid tells of this payment: ${JSON.stringify(paid)}`],
    [closedWell, `I10 a payment closes once: said ${closed.join(', ') || 'nothing'}`],
  ];
  return facts.filter(([holds]) => !holds).map(([, what]) => `${what} (${payment.payment_id}, ${payment.status})`);
}
