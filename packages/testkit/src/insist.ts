import { eventually } from './eventually.ts';

/**
 * Asks again while the answer is 503. A busy machine gives it when it is late: then nothing has happened, and whoever asked may
 * repeat it. Creations are repeated with their key.
 * @throws once `timeoutMs` (30,000 unless given) has passed.
 */
export const insist = <A extends { status: number }>(
  ask: () => Promise<A>,
  { timeoutMs, intervalMs = 500 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<A> =>
  eventually(
    async () => {
      const answer = await ask();
      if (answer.status === 503) throw new Error(`answered ${JSON.stringify(answer)}`);
      return answer;
    },
    { intervalMs, ...(timeoutMs !== undefined && { timeoutMs }) },
  );
