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

/**
 * The largest group first. Ids and numbers in errors are no difference.
 * @param letters those of each queue oldest first, the ones without a time before all others.
 */
export function summaryOf(letters: readonly DeadLetter[]): DeadLetterGroup[] {
  const groups = new Map<string, DeadLetterGroup>();
  for (const { queue, name, reason, error, first_seen: at } of letters) {
    const key = JSON.stringify([queue, name, reason, error === null ? null : kindOf(error)]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { queue, name, reason, error, dead: 1, oldest: at, newest: at });
    else {
      group.dead += 1;
      group.oldest ??= at;
      group.newest = at ?? group.newest;
    }
  }
  return [...groups.values()].sort((a, b) => b.dead - a.dead);
}

/** @returns the error without what makes each one different. */
const kindOf = (error: string): string => error.replaceAll(/[0-9a-f]{8,}|[0-9a-f-]{36}|\d+/gi, '#');
