import type { Clock } from '@quittance/runtime/time.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

const reasons = ['clock', 'event_loop'] as const;

type PauseReason = (typeof reasons)[number];

/** Receivers refuse a timestamp that is more than 300 s off. A difference beyond ordinary drift keeps growing. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;
/** With a longer delay of the event loop, receivers lose time to answer. A busy machine causes shorter delays, which are harmless. */
const MAX_LAG_MS = 2_000;
const LAG_INTERVAL_MS = 100;

export type BackPressure = ReturnType<typeof createBackPressure>;

/**
 * Decides when this process must not send. A slow or unavailable database needs no rule here: then nothing can be claimed.
 * @param options.clock stamps the deliveries.
 */
export function createBackPressure(options: { clock: Clock; logger: Logger; metrics: Metrics }) {
  const { clock, logger, metrics } = options;
  const paused = metrics.gauge('webhook_paused', 'Whether this process sends nothing, by reason', ['reason']);
  const lag = watchLag();
  const isOn = new Map<PauseReason, boolean>(reasons.map((reason) => [reason, false]));
  for (const reason of reasons) paused.set({ reason }, 0);
  metrics.beforeScrape(() => set('event_loop', lag.recentMs() > MAX_LAG_MS));

  function set(reason: PauseReason, on: boolean): void {
    if (isOn.get(reason) === on) return;
    isOn.set(reason, on);
    paused.set({ reason }, on ? 1 : 0);
    if (on) logger.error({ reason }, 'webhooks are paused');
    else logger.info({ reason }, 'webhooks are resumed');
  }

  return {
    /** Call it with the database's time right after the statement that returned it. */
    databaseTime(databaseNow: Date): void {
      const differenceMs = clock().getTime() - databaseNow.getTime();
      set('clock', Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS);
    },
    /** Null if the process may send. The clock counts as correct until the first databaseTime(). */
    pauseReason(): PauseReason | null {
      set('event_loop', lag.recentMs() > MAX_LAG_MS);
      return reasons.find((reason) => isOn.get(reason) === true) ?? null;
    },
    /** Milliseconds in which this process ran: a monotonic clock that stops while the process is frozen or gets no CPU. */
    runMs: () => lag.runMs(),
    close: () => lag.close(),
  };
}

/** How late timers fire. */
function watchLag() {
  let expectedMs = performance.now() + LAG_INTERVAL_MS;
  let [worst, worstBefore, ticks, lostMs] = [0, 0, 0, 0];
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - expectedMs);
    lostMs += Math.max(0, now - expectedMs);
    expectedMs = now + LAG_INTERVAL_MS;
    ticks += 1;
    if (ticks % (1000 / LAG_INTERVAL_MS) === 0) [worstBefore, worst] = [worst, 0];
  }, LAG_INTERVAL_MS).unref();
  // A timer that has not fired yet may be late too.
  const lateMs = (): number => Math.max(0, performance.now() - expectedMs);
  return {
    /** The longest delay of the last one or two seconds. */
    recentMs: () => Math.max(worst, worstBefore, lateMs()),
    runMs: () => performance.now() - lostMs - lateMs(),
    close: () => clearInterval(timer),
  };
}
