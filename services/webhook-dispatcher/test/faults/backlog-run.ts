import { eventually } from '@quittance/testkit/eventually.ts';
import type { Merchant } from '../world.ts';
import { insertBacklog } from './backlog.ts';
import { openSite } from './site.ts';
import type { Site } from './site.ts';

export type BacklogRun = {
  /** Events that are due at once for one receiver. */
  backlog: number;
  say: (line: string) => void;
  onEnd: (close: () => Promise<void>) => void;
};

export type BacklogRunResult = {
  /** Broken promises, each with what shows it. */
  broken: string[];
  counts: Record<'backlog' | 'attempts while dead' | 'times closed' | 'events of others', number>;
};

const DISPATCHERS = 2;
/** Attempts that a lane may have in flight in one process. */
const LANE_BOUND = 8;
/** How slow the dead receiver is to refuse, and how fast the living one is to accept. */
const REFUSES_AFTER_MS = 50;
const ACCEPTS_AFTER_MS = 2;
/** The lane is closed for 1, 2, 4 and 8 seconds in that time. */
const TIMES_CLOSED = 4;
const RETRY_DELAYS_SECONDS = '1,1,1,1,1,1,1,1';

/**
 * Two dispatchers have a large backlog for a receiver that is dead, while others go on; then the receiver is back.
 * Nothing here is hurried: the lane is closed after as long as anywhere, and is tried again when its time has come.
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
  await untilClosed(site, dead, 1);
  const beforeClosed = site.book.of(dead.host).length;
  say(`  the lane is closed, after ${beforeClosed} attempts`);
  const [closings] = await Promise.all([untilClosed(site, dead, TIMES_CLOSED), payOthers()]);
  const whileDead = site.book.of(dead.host).length;
  // What was in flight, and one event for each time it was tried since.
  const spared = beforeClosed + DISPATCHERS * LANE_BOUND + closings;

  say('  the receiver is back');
  const rushes = bringBack(site, dead);
  await Promise.all([payOthers(), site.delivered([dead], backlog, { timeoutMs: 120_000 + 10 * backlog })]);
  return {
    broken: [
      ...(whileDead > spared ? [`${whileDead} attempts at a dead receiver, expected ${spared} at most`] : []),
      ...rushes.slice(0, 5),
      ...(await site.violations()),
    ],
    counts: { backlog, 'attempts while dead': whileDead, 'times closed': closings, 'events of others': events },
  };
}

/** @returns how often the lane was closed by then, so many times at least. */
async function untilClosed({ world }: Site, { merchantId }: Merchant, times: number): Promise<number> {
  return eventually(
    async () => {
      const { rows } = await world.pool.query<{ closed_times: number }>(
        `select closed_times from lane where merchant_id = $1`,
        [merchantId],
      );
      const closedTimes = rows[0]?.closed_times ?? 0;
      if (closedTimes < times) throw new Error(`the lane was closed ${closedTimes} times`);
      return closedTimes;
    },
    { timeoutMs: 180_000, intervalMs: 100 },
  );
}

/**
 * The receiver accepts from now on.
 * @returns where it notes that more came at once than what it had accepted before allows: one, then twice as many for each.
 */
function bringBack({ book }: Site, { host }: Merchant): string[] {
  const rushes: string[] = [];
  let [open, accepted] = [0, 0];
  book.treat(host, () => (response) => {
    open += 1;
    const most = accepted === 0 ? 1 : DISPATCHERS * Math.min(LANE_BOUND, 2 ** accepted);
    if (open > most) rushes.push(`${open} requests at once after ${accepted} were accepted`);
    setTimeout(() => {
      open -= 1;
      accepted += 1;
      response.writeHead(200).end();
    }, ACCEPTS_AFTER_MS);
  });
  return rushes;
}
