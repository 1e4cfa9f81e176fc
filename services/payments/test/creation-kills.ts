import { setTimeout as pause } from 'node:timers/promises';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type Answer, checkCreations, type Order, type LimitedMerchant } from './check-creations.ts';
import type { PaymentsUnderTest } from './service.ts';
import { create, newKey, newMerchant, newWallet } from './fixtures.ts';

/** How many merchants request how many payments each, and how many of a merchant's processes request each of them at the same time. */
export type Campaign = { merchants: number; creations: number; clients: number };

/** The result of a campaign. It only proves something with `terminated` and `unavailable` above 0. */
export type CampaignReport = {
  /** Sessions of the service that this test ended, most of them in the middle of a transaction. */
  terminated: number;
  /** Statements that were cancelled. */
  cancelled: number;
  /** Requests that were answered 503. */
  unavailable: number;
  created: number;
  refused: number;
  /** Each violation as a sentence; none when all is well. */
  violations: string[];
};

/**
 * Lets merchants with all kinds of limits create while the sessions of the service are being ended all the time. A client that gets 503
 * retries with the same key, as the contract says, until it is decided.
 * @param random from 0 up to but excluding 1: which session is hit, when and how. The effect depends on the machine.
 * @param meanwhile another fault, started when about half is decided.
 * @param messagesHandled how many PaymentCreated a consumer has handled for good, when `received` cannot know because its own database
 *   fails too.
 * @throws when something is not decided after very many attempts.
 */
export async function createWhileSessionsEnd(
  payments: PaymentsUnderTest,
  { merchants: count, creations, clients }: Campaign,
  {
    random = Math.random,
    meanwhile,
    messagesHandled,
  }: { random?: () => number; meanwhile?: () => Promise<void>; messagesHandled?: () => Promise<number> } = {},
): Promise<CampaignReport> {
  const merchants = await Promise.all(
    Array.from({ length: count }, (_, position) => newLimitedMerchant(payments, position, creations)),
  );
  const orders = shuffled(
    merchants.flatMap((merchant) => Array.from({ length: creations }, () => newOrder(merchant))),
    random,
  );
  const counts = { unavailable: 0, answered: 0, decided: 0 };
  const killer = startKillingSessions(payments, random, counts);
  const half = untilDecided(counts, orders.length / 2).then(meanwhile);
  const askAll = async (order: Order): Promise<void> => {
    const asking = Array.from({ length: clients }, () => createUntilDecided(payments, order, counts));
    order.answers.push(...(await Promise.all(asking)));
    counts.decided += 1;
  };
  try {
    await Promise.all([forEach(orders, askAll), half]);
  } finally {
    await killer.stop();
  }
  // Once more without faults: answers must not change.
  await forEach(orders, async (order) => {
    order.answers.push(await createUntilDecided(payments, order, counts));
  });
  const violations = await checkCreations(payments, { merchants, orders, messagesHandled });
  const created = orders.filter(({ answers }) => answers[0]?.status === 201).length;
  const { terminated, cancelled } = killer.done;
  const { unavailable } = counts;
  return { terminated, cancelled, unavailable, created, refused: orders.length - created, violations };
}

/** The number of orders in progress at the same time. */
const ORDERS_AT_ONCE = 40;
/** Far more than even a restart of the server needs. */
const MOST_ATTEMPTS = 1_000;

async function forEach(orders: readonly Order[], work: (order: Order) => Promise<void>): Promise<void> {
  const queue = [...orders];
  const workers = Array.from({ length: ORDERS_AT_ONCE }, async () => {
    for (let order = queue.pop(); order !== undefined; order = queue.pop()) await work(order);
  });
  await Promise.all(workers);
}

/** Some may create all they request, others fewer in total, fewer today, or both. */
async function newLimitedMerchant(
  payments: PaymentsUnderTest,
  position: number,
  creations: number,
): Promise<LimitedMerchant> {
  const few = 1 + ((position * 7) % (creations - 1));
  const fewer = 1 + ((position * 11) % (creations - 1));
  const [total, daily] = (
    [
      [null, null],
      [few, null],
      [null, few],
      [few, fewer],
    ] as const
  )[position % 4]!;
  const limits: Partial<AccessPolicy> = { daily_limit: daily, ...(total !== null && { total_limit: total }) };
  const allowed = Math.min(creations, total ?? creations, daily ?? creations);
  return { merchantId: await newMerchant(payments, limits), total, daily, allowed };
}

const newOrder = (shop: LimitedMerchant): Order => ({ ...shop, key: newKey(), wallet: newWallet(), answers: [] });

async function createUntilDecided(
  payments: PaymentsUnderTest,
  { merchantId, key, wallet }: Order,
  counts: { unavailable: number; answered: number },
): Promise<Answer> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
    const { status, text } = await create(payments, merchantId, { key, wallet }, { once: true });
    if (status !== 503) {
      counts.answered += 1;
      return { status, text };
    }
    counts.unavailable += 1;
    await pause(10 + Math.random() * 40);
  }
  throw new Error(`the key ${key} was not decided in ${MOST_ATTEMPTS} attempts`);
}

async function untilDecided(counts: { decided: number }, enough: number): Promise<void> {
  await eventually(() => {
    if (counts.decided < enough) throw new Error(`only ${counts.decided} orders were decided`);
  });
}

/**
 * The maximum number of hits for each answer. Without it, a machine on which everything takes longer than the time between two hits would
 * never finish.
 */
const HITS_PER_ANSWER = 2;

/**
 * Ends sessions of the service without a pause: usually a working one, sometimes all, and sometimes only its statement. A role may end its
 * own sessions, so the test's connection can do it.
 */
function startKillingSessions(payments: PaymentsUnderTest, random: () => number, counts: { answered: number }) {
  const done = { terminated: 0, cancelled: 0 };
  let stopped = false;
  const hit = async (): Promise<void> => {
    const chance = random();
    const end = chance < 0.2 ? 'pg_cancel_backend' : 'pg_terminate_backend';
    const { rows } = await payments.db.query<{ hit: boolean }>(
      `select ${end}(pid) as hit
         from (select pid from pg_stat_activity
                where usename = current_user and application_name = 'payments'
                order by state = 'idle', random() limit $1) as victim`,
      [chance > 0.97 ? 100 : 1],
    );
    const hits = rows.filter(({ hit: was }) => was).length;
    if (end === 'pg_cancel_backend') done.cancelled += hits;
    else done.terminated += hits;
  };
  const run = async (): Promise<void> => {
    while (!stopped) {
      const isAhead = done.terminated + done.cancelled > HITS_PER_ANSWER * (counts.answered + 10);
      // While the server itself is down there is no session to end.
      if (!isAhead) await hit().catch(() => undefined);
      await pause(5 + random() * 50);
    }
  };
  const running = run();
  return {
    done,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

/** Fisher–Yates. */
function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
