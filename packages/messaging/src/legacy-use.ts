import { legacyKinds, type LegacyKind, type LegacyUse } from '@quittance/contracts/http/trust.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { startLoop, type Loop } from '@quittance/runtime/loop.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { Trust } from '@quittance/runtime/trust.ts';

export type LegacyRecord = ReturnType<typeof createLegacyRecord>;

const EVERY_MS = 60_000;
/** The row with the time since which uses are recorded. */
const WATCHING = 'watching';

type Options = {
  pool: Pool;
  trust: Pick<Trust, 'signer' | 'sharedTokens'>;
  logger: Logger;
  metrics: Metrics;
  /** The minimum time between writes of a kind; the loop runs at this interval. */
  everyMs?: number;
};

/**
 * Records what is accepted only because INTERNAL_TOKEN is set, so that an operator can see when it is no longer needed. All processes of a
 * service share the rows. A process that accepts no internal token writes nothing.
 */
export function createLegacyRecord({ pool, trust, logger, metrics, everyMs = EVERY_MS }: Options) {
  const accepted = metrics.counter(
    'trust_legacy_accepted_total',
    'Calls, operators and messages accepted only because INTERNAL_TOKEN is set',
    ['kind'],
  );
  for (const kind of legacyKinds) accepted.inc({ kind }, 0);
  /** When each was last seen (`performance.now()`), until that is written. */
  const seen = new Map<LegacyUse['kind'], number>();
  let loop: Loop | null = null;

  /** A use that could not be written is kept for the next time. */
  async function writeSeen(): Promise<void> {
    const uses = [...seen];
    await write(pool, uses);
    for (const [kind, at] of uses) if (seen.get(kind) === at) seen.delete(kind);
  }

  return {
    /** Once the database can be reached. */
    start(): void {
      if (trust.sharedTokens.length === 0) return;
      loop = startLoop({
        ...{ name: 'legacy-use', intervalMs: everyMs, logger, metrics },
        run: async () => {
          if (trust.signer === null) seen.set('process_without_key', performance.now());
          await writeSeen();
          return { more: false };
        },
      });
    },
    accepted(kind: LegacyKind): void {
      accepted.inc({ kind });
      seen.set(kind, performance.now());
    },
    /** @returns for how many seconds uses have been recorded, and when each kind was last seen. */
    async read(): Promise<{ watchedSeconds: number | null; legacy: LegacyUse[] }> {
      // Includes what this process has just accepted.
      if (seen.size > 0) await writeSeen();
      return readUses(pool);
    },
    async close(): Promise<void> {
      await loop?.close();
      if (seen.size > 0)
        await writeSeen().catch((error: unknown) =>
          logger.warn({ error }, 'a use of the internal token could not be recorded'),
        );
    },
  };
}

async function write(pool: Pool, uses: readonly (readonly [kind: string, at: number])[]): Promise<void> {
  const now = performance.now();
  const sorted = [...uses, [WATCHING, now] as const].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await pool.query(
    `insert into legacy_use (kind, last_at)
     select kind, now() - age_ms * interval '1 millisecond' from unnest($1::text[], $2::float8[]) as use (kind, age_ms)
     on conflict (kind) do update set last_at = greatest(legacy_use.last_at, excluded.last_at) where legacy_use.kind <> $3`,
    [sorted.map(([kind]) => kind), sorted.map(([, at]) => now - at), WATCHING],
  );
}

async function readUses(pool: Pool): Promise<{ watchedSeconds: number | null; legacy: LegacyUse[] }> {
  const { rows } = await pool.query<{ kind: string; last_at: Date; seconds_ago: number }>(
    `select kind, last_at, extract(epoch from now() - last_at)::integer as seconds_ago from legacy_use order by kind`,
  );
  const legacy = rows.flatMap(({ kind, ...row }) =>
    kind === WATCHING ? [] : [{ ...row, kind: kind as LegacyUse['kind'], last_at: rfc3339(row.last_at) }],
  );
  return { watchedSeconds: rows.find(({ kind }) => kind === WATCHING)?.seconds_ago ?? null, legacy };
}
