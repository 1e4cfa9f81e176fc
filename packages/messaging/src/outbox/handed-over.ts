import type { OutboxRow } from './store.ts';

export type HandedOver = ReturnType<typeof createHandedOver>;

/**
 * Rows that this process has just written for its own relay, kept in memory until they are published.
 * @param capacity rows beyond which there is no room.
 * @param now monotonic milliseconds.
 */
export function createHandedOver(capacity: number, now: () => number = () => performance.now()) {
  let parts: { rows: OutboxRow[]; until: number }[] = [];
  const size = (): number => parts.reduce((sum, { rows }) => sum + rows.length, 0);
  return {
    hasRoomFor: (count: number): boolean => size() + count <= capacity,
    isEmpty: (): boolean => parts.length === 0,
    /** @param until the deadline for publishing them. */
    add(rows: readonly OutboxRow[], until: number): void {
      if (rows.length > 0) parts.push({ rows: [...rows], until });
    },
    /** Takes the first rows, at most `count`. */
    take(count: number): OutboxRow[] {
      const taken: OutboxRow[] = [];
      for (let part = parts[0]; part !== undefined && taken.length < count; part = parts[0]) {
        taken.push(...part.rows.splice(0, count - taken.length));
        if (part.rows.length === 0) parts.shift();
      }
      return taken;
    },
    takeLate(): OutboxRow[] {
      const at = now();
      const late = parts.filter(({ until }) => until <= at);
      if (late.length > 0) parts = parts.filter(({ until }) => until > at);
      return late.flatMap(({ rows }) => rows);
    },
    takeAll(): OutboxRow[] {
      const all = parts.flatMap(({ rows }) => rows);
      parts = [];
      return all;
    },
  };
}
