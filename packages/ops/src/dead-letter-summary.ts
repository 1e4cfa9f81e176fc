import type { DeadLetter } from '@quittance/messaging/dead-letter/message.ts';

/** Dead letters that probably have one story. */
export type DeadLetterGroup = {
  queue: string;
  name: string;
  reason: string;
  error: string | null;
  dead: number;
  oldest: string | null;
  newest: string | null;
};

/** The largest group first. Ids and numbers in errors are no difference. */
export function summaryOf(letters: readonly DeadLetter[]): DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { queue, name, reason, error, first_seen: at } of letters) {
    const key = JSON.stringify([queue, name, reason, error === null ? null : kindOf(error)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { queue, name, reason, error, dead: 1, oldest: at, newest: at });
    else {
      group.dead += 1;
      group.oldest = earliest(group.oldest, at);
      group.newest = latest(group.newest, at);
    }
  }
  return [...groups.values()].sort((a, b) => b.dead - a.dead);
}

/** @returns the error without what makes each one different. */
const kindOf = (error: string): string => error.replaceAll(/[0-9a-f]{8,}|[0-9a-f-]{36}|\d+/gi, '#');

// Times in RFC 3339 and UTC sort as texts.
const earliest = (a: string | null, b: string | null) => (a === null || b === null ? (a ?? b) : a < b ? a : b);
const latest = (a: string | null, b: string | null) => (a === null || b === null ? (a ?? b) : a > b ? a : b);
