import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentPaid } from '@quittance/contracts/messages.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import type { ServiceProcess } from '@quittance/testkit/service-process.ts';
import { status } from '../receiver.ts';
import type { Merchant } from '../world.ts';
import { openSite, type Site } from './site.ts';
import { createGate, eventIdOf, reset, shareOf, type Visit } from './visits.ts';

export type KillRun = {
  seed: number;
  merchants: number;
  /** Paid evenly over the run. */
  events: number;
  kills: number;
  /** The time between two kills. */
  everyMs: number;
  /** Whether the run waits for the leases of killed processes, or makes them expire when all others are done. */
  leases: 'wait' | 'lapse';
  say: (line: string) => void;
  onEnd: (close: () => Promise<void>) => void;
};

export type KillRunResult = {
  /** Violations, each with its evidence. */
  broken: string[];
  /** What happened, and how often. */
  counts: Record<'events' | 'kills' | 'requests' | 'refused' | 'reset' | 'hung' | 'repeated' | 'interruptions', number>;
};

/** Only a kill within a few milliseconds causes these, so a fast process has few. */
const chances = ['repeated', 'interruptions'];

/** What should have happened and did not: a run that hit nothing proves nothing. */
export const emptiness = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(counts)
    .filter(([name, count]) => count === 0 && !chances.includes(name))
    .map(([name]) => `the run did too little: no ${name}`);

/** The most a process has in flight: one kill may repeat this many events. */
const IN_FLIGHT = 1_024;
/** Short delays, and enough retries for the receivers' failures. */
const RETRY_DELAYS_SECONDS = '0,0,1,1,1,1,1,1';
/** The most failures of a receiver with one event. */
const MAX_MOODS = 3;

/**
 * Two dispatchers deliver while one after the other is killed during its work and restarted immediately, to receivers that sometimes
 * refuse, reset and hang. Then everything settles, and the receivers' requests are compared with the stored rows.
 */
export async function killRun(options: KillRun): Promise<KillRunResult> {
  const { seed, events, leases, say, onEnd } = options;
  const site = await openSite({ retryDelaysSeconds: RETRY_DELAYS_SECONDS });
  onEnd(() => site.world.stop());
  const dispatchers = [site.world.dispatcher(), await site.world.start()];
  onEnd(async () => {
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.kill()));
  });
  const hanging = createGate();
  const answers = { good: status(200), refuses: status(500), resets: reset, hangs: hanging.hold };
  const merchants = await site.merchants(options.merchants, (visit) => answers[moodOf(seed, visit)]);
  const payments = await payAndKill(site, dispatchers, merchants, options);
  say(`  ${events} events published, the last kill is over`);

  if (leases === 'lapse') {
    await othersDone(site, merchants, events, () => hanging.letGo(reset));
    await buryTheDead(site, dispatchers, merchants);
  }
  await site.delivered(merchants, events);
  // Wait until requests that reached a receiver are stored by their dispatcher.
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  return { broken: await judge(site, payments, options), counts: await countsOf(site, options) };
}

type Mood = 'good' | 'refuses' | 'resets' | 'hangs';

/** The same for each repetition of a payment's request, in any dispatcher and at any time. */
function moodOf(seed: number, { event, nth }: Visit): Mood {
  const share = nth > MAX_MOODS ? 1 : shareOf(seed, event.description, nth);
  if (share < 0.05) return 'refuses';
  if (share < 0.08) return 'resets';
  return share < 0.085 ? 'hangs' : 'good';
}

async function payAndKill(
  site: Site,
  dispatchers: ServiceProcess[],
  merchants: readonly Merchant[],
  { seed, events, kills, everyMs }: KillRun,
): Promise<PaymentPaid[]> {
  const payments: PaymentPaid[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const share = Math.floor(((kill + 1) * events) / kills) - payments.length;
    const [paid] = await Promise.all([site.pay(merchants, share), delay(everyMs)]);
    payments.push(...paid);
    const victim = Math.floor(shareOf(seed, 'victim of kill', kill) * dispatchers.length);
    await dispatchers[victim]!.kill();
    dispatchers[victim] = await site.world.restart();
  }
  return payments;
}

/** Waits until only leased deliveries are left. @param goOn ends requests that would otherwise take 15 seconds. */
async function othersDone(site: Site, merchants: readonly Merchant[], events: number, goOn: () => void): Promise<void> {
  await eventually(
    async () => {
      goOn();
      const done = await site.count(merchants, `status <> 'pending' or lease_id is not null`);
      if (done !== events) throw new Error(`${done} of ${events} events are done or leased`);
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
}

/** A running process has none left after it is stopped, so the remaining leases are those of killed processes. */
async function buryTheDead(site: Site, dispatchers: ServiceProcess[], merchants: readonly Merchant[]): Promise<void> {
  await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  await site.lapseLeases(merchants);
  for (const position of dispatchers.keys()) dispatchers[position] = await site.world.restart();
}

async function judge(site: Site, payments: readonly PaymentPaid[], { kills }: KillRun): Promise<string[]> {
  const { world, book } = site;
  const { rows } = await world.pool.query<{ event_id: string; payment_id: string }>(
    `select event_id, payment_id from event`,
  );
  const stored = new Map(rows.map((row) => [row.payment_id, row.event_id]));
  const accepted = book.acceptances();
  const lost = payments.filter(({ payment_id }) => !accepted.has(stored.get(payment_id) ?? ''));
  const repeated = [...accepted.values()].reduce((sum, times) => sum + times - 1, 0);
  return [
    ...(rows.length === payments.length ? [] : [`${rows.length} events of ${payments.length} payments`]),
    ...lost.slice(0, 5).map(({ payment_id }) => `nobody accepted the event of ${payment_id}`),
    ...(repeated <= kills * IN_FLIGHT ? [] : [`${repeated} events were accepted more than once`]),
    ...(await site.violations()),
    ...(await judgeRows(site)),
  ];
}

type EventRow = {
  event_id: string;
  status: string;
  attempts: number;
  interruptions: number;
  made: number;
  /** Those that reached their receiver; on a busy machine some get no connection in time. */
  sent: number;
  successes: number;
};

/**
 * Each request was stored, or interrupted by a kill, which the next claim noticed. Nothing was settled twice: each stored attempt is
 * counted, and one of them was the success.
 */
async function judgeRows({ world, book }: Site): Promise<string[]> {
  const { rows } = await world.pool.query<EventRow>(
    `select event_id, status, attempts, interruptions, made, sent, successes
       from delivery
      cross join lateral (
        select count(*)::int as made, count(remote_ip)::int as sent, count(*) filter (where error_category is null)::int as successes
          from attempt where attempt.event_id = delivery.event_id
      ) a`,
  );
  const visits = Map.groupBy(book.all, eventIdOf);
  return rows.flatMap((row) => {
    const requests = visits.get(row.event_id)?.length ?? 0;
    const isAccounted = requests >= row.sent && requests <= row.made + row.interruptions;
    const isSettledOnce = row.status === 'delivered' && row.successes === 1 && row.attempts === row.made;
    return isAccounted && isSettledOnce ? [] : [`${requests} requests, but ${JSON.stringify(row)}`];
  });
}

async function countsOf({ world, book }: Site, { seed, events, kills }: KillRun): Promise<KillRunResult['counts']> {
  const { rows } = await world.pool.query<{ interruptions: number }>(
    `select coalesce(sum(interruptions), 0)::int as interruptions from delivery`,
  );
  const inMood = (mood: Mood): number => book.all.filter((visit) => moodOf(seed, visit) === mood).length;
  return {
    events,
    kills,
    requests: book.all.length,
    refused: inMood('refuses'),
    reset: inMood('resets'),
    hung: inMood('hangs'),
    repeated: [...book.acceptances().values()].reduce((sum, times) => sum + times - 1, 0),
    interruptions: rows[0]!.interruptions,
  };
}
