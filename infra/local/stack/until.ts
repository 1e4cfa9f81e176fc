import { setTimeout as delay } from 'node:timers/promises';
import { StackError } from './directory.ts';

/** A small machine may need minutes for what takes seconds elsewhere, so these only end what would never happen. */
const [TELL_MS, GIVE_UP_MS] = [15_000, 600_000];

/**
 * Repeats `look` until it finds something, and says now and then what it waits for.
 * @param what is waited for, for example "payments-1 to become ready"; a function if that changes.
 * @throws StackError after ten minutes, or the error of `look`.
 */
export async function until<T>(
  what: string | (() => string),
  look: () => Promise<T | null>,
  { everyMs, say = console.error }: { everyMs: number; say?: (line: string) => void },
): Promise<T> {
  const startedMs = performance.now();
  const toldAs = typeof what === 'string' ? () => what : what;
  let tellAtMs = TELL_MS;
  for (let found = await look(); ; found = await look()) {
    if (found !== null) return found;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > GIVE_UP_MS)
      throw new StackError(`Waited ${GIVE_UP_MS / 60_000} minutes for ${toldAs()} without success.`);
    if (waitedMs > tellAtMs) {
      say(`waiting    for ${toldAs()}, for ${Math.round(waitedMs / 1_000)} s now`);
      tellAtMs += TELL_MS;
    }
    await delay(everyMs);
  }
}
