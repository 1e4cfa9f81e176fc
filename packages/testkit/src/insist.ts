import { eventually } from './eventually.ts';

/**
 * Repeats a request while the answer is 503. A late, busy machine gives this answer; nothing has happened then, and the
 * client may repeat the request. Creations are repeated with their key.
 * @throws the last 503, as eventually() does.
 */
export const insist = <A extends { status: number }>(
  ask: () => Promise<A>,
  { intervalMs = 500 }: { intervalMs?: number } = {},
): Promise<A> =>
  eventually(
    async () => {
      const answer = await ask();
      if (answer.status === 503) throw new Error(`answered ${JSON.stringify(answer)}`);
      return answer;
    },
    { intervalMs },
  );
