import { RatesObserved } from '@quittance/contracts/messages.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type Loop, startLoop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { type Leadership, tryToLead } from '../leadership/election.sql.ts';
import { readSource } from './read-source.ts';
import { adapters, type ConfiguredSource, type Quote } from './sources.ts';

/** How often due sources are looked for. Shorter than every source's interval, so that a new leader soon begins. */
const INTERVAL_MS = 5_000;
const TIMEOUT_MS = 10_000;
/** After a failure. A source that refuses because of too many requests gets no more than before. */
const RETRY_MS = 30_000;

/** The lock of the one replica that reads the sources. No network's id has a space. */
const LEADER = 'exchange rates';

type Context = {
  sources: readonly ConfiguredSource[];
  pool: Pool;
  leaderPool: Pool;
  leaseMs: number;
  outbox: Pick<Outbox, 'send'>;
  logger: Logger;
  metrics: Metrics;
};

/** Reads the configured sources while this replica leads, and publishes what they say. payments decides what it is worth. */
export function startObserveRatesLoop(context: Context): Pick<Loop, 'close'> {
  const { sources, logger, metrics } = context;
  const reads = metrics.counter('rate_reads_total', 'Reads of sources of exchange rates', ['source', 'outcome']);
  for (const { name } of sources) for (const outcome of ['ok', 'failed']) reads.inc({ source: name, outcome }, 0);
  const nextAt = new Map<string, number>();
  let leadership: Leadership | null = null;

  async function readOne(source: ConfiguredSource, stop: AbortSignal): Promise<Quote[]> {
    try {
      const quotes = await readSource(source, AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]));
      reads.inc({ source: source.name, outcome: 'ok' });
      return quotes;
    } catch (error) {
      reads.inc({ source: source.name, outcome: 'failed' });
      const reason = error instanceof Error ? error.message : String(error);
      logger.warn({ source: source.name, reason }, 'a source of exchange rates gave no usable answer');
      return [];
    }
  }

  const loop = startLoop({
    name: 'observe-rates',
    intervalMs: INTERVAL_MS,
    logger,
    metrics,
    run: async (signal) => {
      if (sources.length === 0) return { more: false };
      if (leadership?.isHeld() !== true) {
        await leadership?.release();
        leadership = await tryToLead(context.leaderPool, LEADER, context.leaseMs);
      }
      if (leadership === null) return { more: false };
      const now = performance.now();
      const due = sources.filter(({ name }) => (nextAt.get(name) ?? 0) <= now);
      const read = await Promise.all(
        due.map(async (source) => {
          const quotes = await readOne(source, signal);
          nextAt.set(source.name, now + (quotes.length === 0 ? RETRY_MS : adapters[source.name].everyMs));
          return quotes;
        }),
      );
      const quotes = read.flat();
      if (quotes.length === 0 || signal.aborted) return { more: false };
      const message: RatesObserved = { observed_at: new Date().toISOString(), quotes };
      await transaction(context.pool, (tx) => context.outbox.send(tx, RatesObserved, message));
      return { more: false };
    },
  });
  return {
    async close() {
      await loop.close();
      await leadership?.release();
    },
  };
}
