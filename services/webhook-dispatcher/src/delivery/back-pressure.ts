import type { Clock } from '@quittance/runtime/clock.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';

const reasons = ['clock', 'event_loop'] as const;

/** Why nothing may be claimed just now. */
type PauseReason = (typeof reasons)[number];

/** Tells when this process had better not send anything. A slow or absent database needs no word: then nothing can be claimed. */
export type BackPressure = {
  /** Takes the database's time, as it was while a statement ran that ended just now. */
  databaseTime(databaseNow: Date): void;
  /** Null when all is well. Without a database time so far, the clock counts as right. */
  pauseReason(): PauseReason | null;
  close(): void;
};

/** Receivers refuse a timestamp more than 300 s off. What is so far beyond any ordinary drift will not stop there. */
const MAX_CLOCK_DIFFERENCE_MS = 30_000;
/** An event loop this late takes time from attempts that their receivers never had. Less is a busy machine, and does no harm. */
const MAX_LAG_MS = 2_000;
const LAG_INTERVAL_MS = 100;

/** @param options.clock stamps the deliveries. */
export function createBackPressure({
  clock,
  logger,
  metrics,
}: {
  clock: Clock;
  logger: Logger;
  metrics: Metrics;
}): BackPressure {
  const paused = metrics.gauge('webhook_paused', 'Whether this process sends nothing, by reason', ['reason']);
  const difference = metrics.gauge('webhook_clock_difference_seconds', "This process's clock less the database's");
  const lag = watchLag();
  const isOn = new Map<PauseReason, boolean>(reasons.map((reason) => [reason, false]));
  for (const reason of reasons) paused.set({ reason }, 0);
  metrics.beforeScrape(() => set('event_loop', lag.recentMs() > MAX_LAG_MS));

  function set(reason: PauseReason, on: boolean): void {
    if (isOn.get(reason) === on) return;
    isOn.set(reason, on);
    paused.set({ reason }, on ? 1 : 0);
    if (on) logger.error({ reason }, 'webhooks are paused');
    else logger.info({ reason }, 'webhooks go on');
  }

  return {
    databaseTime(databaseNow) {
      const differenceMs = clock().getTime() - databaseNow.getTime();
      difference.set(differenceMs / 1000);
      set('clock', Math.abs(differenceMs) > MAX_CLOCK_DIFFERENCE_MS);
    },
    pauseReason() {
      set('event_loop', lag.recentMs() > MAX_LAG_MS);
      return reasons.find((reason) => isOn.get(reason) === true) ?? null;
    },
    close: () => lag.close(),
  };
}

/** How late timers are: the worst of the last one or two seconds. */
function watchLag(): { recentMs(): number; close(): void } {
  let expectedMs = performance.now() + LAG_INTERVAL_MS;
  let [worst, worstBefore, ticks] = [0, 0, 0];
  const timer = setInterval(() => {
    const now = performance.now();
    worst = Math.max(worst, now - expectedMs);
    expectedMs = now + LAG_INTERVAL_MS;
    ticks += 1;
    if (ticks % (1000 / LAG_INTERVAL_MS) === 0) [worstBefore, worst] = [worst, 0];
  }, LAG_INTERVAL_MS).unref();
  return {
    // A timer that has not fired at all yet is late too.
    recentMs: () => Math.max(worst, worstBefore, performance.now() - expectedMs),
    close: () => clearInterval(timer),
  };
}
