import { eventually } from '@quittance/testkit/eventually.ts';
import type { Merchant } from '../world.ts';
import { insertBacklog } from './backlog.ts';
import { openSite, type Site } from './site.ts';

export type BacklogRun = {
  /** Events that are due for one receiver. */
  backlog: number;
  say: (line: string) => void;
  onEnd: (close: () => Promise<void>) => void;
};

export type BacklogRunResult = {
  /** Violations, each with its evidence. */
  broken: string[];
  counts: Record<'backlog' | 'attempts while dead' | 'times opened' | 'events of others', number>;
};

const DISPATCHERS = 2;
/** The limit of attempts of one lane in flight in one process. */
const LANE_LIMIT = 8;
/** How slowly the dead receiver refuses, and how fast the working one accepts. */
const REFUSES_AFTER_MS = 50;
const ACCEPTS_AFTER_MS = 2;
/** In this time the circuit is open for 1, 2, 4 and 8 seconds. */
const TIMES_OPENED = 4;
const RETRY_DELAYS_SECONDS = '1,1,1,1,1,1,1,1';

/**
 * Two dispatchers have a large backlog for a dead receiver, while other receivers work; then the receiver works again.
 * Nothing is shortened: the circuit opens and is probed with the times of production.
 */
export async function backlogRun({ backlog, say, onEnd }: BacklogRun): Promise<BacklogRunResult> {
  const site = await openSite({ retryDelaysSeconds: RETRY_DELAYS_SECONDS });
  onEnd(() => site.world.stop());
  const second = await site.world.start();
  onEnd(async () => {
    await second.stop();
  });
  const [dead] = (await site.merchants(1, () => (response) => {
    setTimeout(() => response.writeHead(503).end(), REFUSES_AFTER_MS);
  })) as [Merchant];
  const others = await site.merchants(20);
  let events = 0;
  const payOthers = async (): Promise<void> => {
    events += (await site.pay(others, 200)).length;
    await site.delivered(others, events);
  };

  await insertBacklog(site.world.pool, dead, backlog);
  await untilOpened(site, dead, 1);
  const beforeOpened = site.book.of(dead.host).length;
  say(`  the circuit is open, after ${beforeOpened} attempts`);
  const [openings] = await Promise.all([untilOpened(site, dead, TIMES_OPENED), payOthers()]);
  const whileDead = site.book.of(dead.host).length;
  // The attempts in flight when it opened, and one probe each time.
  const spared = beforeOpened + DISPATCHERS * LANE_LIMIT + openings;

  say('  the receiver is back');
  const rushes = bringBack(site, dead);
  await Promise.all([payOthers(), site.delivered([dead], backlog, { timeoutMs: 120_000 + 10 * backlog })]);
  return {
    broken: [
      ...(whileDead > spared ? [`${whileDead} attempts at a dead receiver, expected ${spared} at most`] : []),
      ...rushes.slice(0, 5),
      ...(await site.violations()),
    ],
    counts: { backlog, 'attempts while dead': whileDead, 'times opened': openings, 'events of others': events },
  };
}

/** @returns how often the circuit has opened, at least. */
async function untilOpened({ world }: Site, { merchantId }: Merchant, times: number): Promise<number> {
  return eventually(
    async () => {
      const { rows } = await world.pool.query<{ times_opened: number }>(
        `select times_opened from lane where merchant_id = $1`,
        [merchantId],
      );
      const timesOpened = rows[0]?.times_opened ?? 0;
      if (timesOpened < times) throw new Error(`the circuit opened ${timesOpened} times`);
      return timesOpened;
    },
    { timeoutMs: 180_000, intervalMs: 100 },
  );
}

/**
 * Makes the receiver accept from now on.
 * @returns a list of moments with more concurrent requests than the accepted ones allow: one, then twice as many for each.
 */
function bringBack({ book }: Site, { host }: Merchant): string[] {
  const rushes: string[] = [];
  let [open, accepted] = [0, 0];
  book.treat(host, () => (response) => {
    open += 1;
    const most = accepted === 0 ? 1 : DISPATCHERS * Math.min(LANE_LIMIT, 2 ** accepted);
    if (open > most) rushes.push(`${open} requests at once after ${accepted} were accepted`);
    setTimeout(() => {
      open -= 1;
      accepted += 1;
      response.writeHead(200).end();
    }, ACCEPTS_AFTER_MS);
  });
  return rushes;
}
