import type { Pool } from '@quittance/postgres/pool.ts';
import { type OutboxRow, advanceBounds, claimMessages } from './store.ts';

/** A message that was just sent is searched among those that became due this recently. */
const RECENT_SECONDS = 2;

/**
 * Which rows of one name a relay claims next, and from where.
 * @param options.limit the maximum number of rows in one claim.
 */
export function createClaims(
  pool: Pool,
  name: string,
  { relayId, leaseSeconds, limit }: { relayId: string; leaseSeconds: number; limit: number },
) {
  /** See Bound; null until the outbox was read. */
  let since: string | null = null;
  let wanted: 'nothing' | 'recent' | 'all' = 'nothing';
  let isBehind = false;

  /** Unless the bound has been moved back in the meantime. */
  function advance(from: string | null, to: string): boolean {
    if (since !== from || to === from) return false;
    since = to;
    return true;
  }

  /** A backlog is searched window by window, up to the rows that may still be committed. */
  async function isNextWindowBehind(): Promise<boolean> {
    const from = since;
    const [next] = await advanceBounds(pool, [{ name, since: from }]);
    return next !== undefined && advance(from, next.since) && next.isBehind;
  }

  return {
    since: () => since,
    advance,
    /** Moves the bound to before rows that no claim has read. */
    goBack: (to: string): void => void (since = to),
    /** Whether rows older than the recent ones are waiting. */
    isBehind: () => isBehind,
    isWanted: () => wanted !== 'nothing',
    want(what: 'recent' | 'all'): void {
      if (wanted !== 'all') wanted = what;
    },
    /** Claims the wanted rows. */
    async claim(): Promise<OutboxRow[]> {
      if (wanted === 'nothing') return [];
      const isWhole = wanted === 'all';
      wanted = 'nothing';
      const rows = await claimMessages(pool, {
        ...{ name, since, limit, relayId, leaseSeconds },
        writtenWithin: isWhole ? null : RECENT_SECONDS,
      });
      isBehind = rows.length === limit || (isWhole && (await isNextWindowBehind()));
      // Rows that a full batch leaves may no longer be recent by the next one.
      if (isBehind) wanted = 'all';
      return rows;
    },
  };
}
