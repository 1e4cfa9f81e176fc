import { eventually } from '@quittance/testkit/eventually.ts';
import { findViolations } from './invariants.ts';
import type { PaymentsUnderTest } from './service.ts';

/** A merchant and its limits. */
export type LimitedMerchant = { merchantId: string; total: number | null; daily: number | null; allowed: number };
export type Answer = { status: number; text: string };
/** A requested payment, and every answer about it, including the last replay. */
export type Order = LimitedMerchant & { key: string; wallet: string; answers: Answer[] };

/**
 * Compares the answers with the database and the messages.
 * @param messagesTaken how many PaymentCreated a consumer has handled; without it, `received` counts.
 * @returns each difference as a sentence.
 */
export async function checkCreations(
  payments: PaymentsUnderTest,
  {
    merchants,
    orders,
    messagesHandled,
  }: {
    merchants: readonly LimitedMerchant[];
    orders: readonly Order[];
    messagesHandled: (() => Promise<number>) | undefined;
  },
): Promise<string[]> {
  return [
    ...orders.flatMap(checkOrder),
    ...(await Promise.all(merchants.map((merchant) => checkMerchant(payments, merchant, orders)))).flat(),
    ...(await checkRows(payments, orders)),
    ...(await checkSessions(payments)),
    ...(await checkMessages(payments, orders, messagesHandled)),
  ];
}

/** Every client of a key gets the same bytes, including the last replay. */
function checkOrder({ key, answers, ...shop }: Order): string[] {
  const [first] = answers;
  if (new Set(answers.map(({ status, text }) => `${status} ${text}`)).size !== 1) {
    return [
      `key ${key} was answered differently: ${answers.map(({ status, text }) => `${status} ${text}`).join(' | ')}`,
    ];
  }
  if (first?.status === 201) return [];
  const code = first?.status === 403 ? (JSON.parse(first.text) as { detail: { code: string } }).detail.code : null;
  const expected = codeOf(shop);
  return code !== null && code === expected
    ? []
    : [`key ${key} was answered ${first?.status} ${first?.text}, not 403 ${expected}`];
}

/** The code that refuses a merchant with nothing left; the total counts before the day. */
function codeOf({ total, daily, allowed }: Pick<LimitedMerchant, 'total' | 'daily' | 'allowed'>): string | null {
  if (total === allowed) return 'total_quota_exhausted';
  return daily === allowed ? 'daily_quota_exhausted' : null;
}

/** Exactly the allowed number was created, was counted, and was answered. */
async function checkMerchant(
  payments: PaymentsUnderTest,
  shop: LimitedMerchant,
  orders: readonly Order[],
): Promise<string[]> {
  const { rows } = await payments.db.query<{
    ids: string[];
    used_lifetime: number;
    used_today: number;
    replies: number;
  }>(
    `select used_lifetime, used_today, array(select payment_id from payment p where p.merchant_id = $1) as ids,
            (select count(*)::int from idempotent_reply r where r.merchant_id = $1) as replies
       from gate where merchant_id = $1`,
    [shop.merchantId],
  );
  const { ids, ...counted } = rows[0]!;
  const answered = orders
    .filter(({ merchantId, answers }) => merchantId === shop.merchantId && answers[0]?.status === 201)
    .map(({ answers }) => (JSON.parse(answers[0]!.text) as { payment_id: string }).payment_id);
  const problems = Object.entries({ ...counted, rows: ids.length, answered: new Set(answered).size })
    .filter(([, number]) => number !== shop.allowed)
    .map(([name, number]) => `${shop.merchantId} was allowed ${shop.allowed}, but ${name} is ${number}`);
  const lost = answered.filter((id) => !ids.includes(id));
  return lost.length === 0 ? problems : [...problems, `201 was answered for ${lost.join(', ')}, which do not exist`];
}

/** The invariants, for the rows of these merchants. */
async function checkRows({ db }: PaymentsUnderTest, orders: readonly Order[]): Promise<string[]> {
  const answered = orders.flatMap(({ merchantId, key, answers }) =>
    answers.filter(({ status }) => status === 201).map(({ text }) => ({ merchantId, idempotencyKey: key, body: text })),
  );
  const merchants = [...new Set(orders.map(({ merchantId }) => merchantId))];
  const found = await findViolations(db, { merchants, answered, limitsStood: true });
  // Published messages are checked below, by what their consumer handled.
  return found.filter((what) => !what.startsWith('I5 a creation is said once'));
}

/** No session is left in a transaction, and so none holds a lock. */
async function checkSessions({ db }: PaymentsUnderTest): Promise<string[]> {
  const look = async () => {
    const { rows } = await db.query<{ left: string }>(
      `select format('session %s is %s in "%s"', pid, state, query) as left from pg_stat_activity
        where usename = current_user and pid <> pg_backend_pid() and xact_start < now() - interval '1 second'`,
    );
    if (rows.length > 0) throw new Error(rows.map(({ left }) => left).join('; '));
  };
  return eventually(look, { timeoutMs: 15_000 }).then(
    () => [],
    (error: unknown) => [(error as Error).message],
  );
}

/** Each payment is announced once, and the outbox holds nothing back. */
async function checkMessages(
  { db, received }: PaymentsUnderTest,
  orders: readonly Order[],
  messagesTaken?: () => Promise<number>,
): Promise<string[]> {
  const merchants = new Set(orders.map(({ merchantId }) => merchantId));
  const created = orders.filter(({ answers }) => answers[0]?.status === 201).length;
  const published = () =>
    received.created.filter(({ merchant_id: id }) => merchants.has(id)).map(({ payment_id: id }) => id);
  const problems = await eventually(async () => {
    const { rows } = await db.query<{ waiting: number }>('select count(*)::int as waiting from outbox');
    const taken = messagesTaken === undefined ? published().length : await messagesTaken();
    if (rows[0]!.waiting !== 0 || taken < created) throw new Error(`${taken} of ${created} messages were taken`);
    return taken === created ? [] : [`${taken} messages were taken for ${created} payments`];
  }).catch((error: unknown) => [(error as Error).message]);
  const twice = published().length - new Set(published()).size;
  return twice === 0 ? problems : [...problems, `${twice} payments were announced twice`];
}
