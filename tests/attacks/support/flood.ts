import { burstOf, clientAddress, rateProblems, type Burst } from '../../support/bursts.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Trial } from '../attack.ts';

const ATTEMPTS = 5;

/**
 * Floods from one address. Exactly the promised share of the requests must be admitted. If the machine is too slow to flood, this tries
 * again, and finally skips the check.
 */
export async function flood(
  trial: Trial,
  allowed: { burst: number; perSecond: number },
  count: number,
  ask: (from: string, index: number) => Promise<HttpAnswer>,
): Promise<Burst['refused']> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const from = clientAddress();
    const burst = await burstOf(count, (index) => ask(from, index));
    const isTooSlow = burst.refused.length === 0 && count <= allowed.burst + 1 + burst.seconds * allowed.perSecond;
    if (isTooSlow) continue;
    trial.none(rateProblems(burst, allowed));
    return burst.refused;
  }
  trial.skip('this machine is too slow to send more than is promised');
  return [];
}
