import type { JourneyStack } from '../support/journey-stack.ts';
import { journeyStack } from '../support/journey-stack.ts';
import { send } from '../support/http.ts';

/** One whole system; its processes run with this environment. */
export const startSystem = (environment: Record<string, string>): Promise<JourneyStack> =>
  journeyStack({ sharesBroker: true, settings: environment });

/** What must hold of a system whatever it was sent: all of it answers that it is ready. */
export async function unready({ file }: JourneyStack): Promise<string[]> {
  const problems: string[] = [];
  for (const [name, { url }] of Object.entries(file.services)) {
    const { status } = await send('GET', `${url}/readyz`);
    if (status !== 200) problems.push(`${name} is not ready: ${status}`);
  }
  return problems;
}
