import { request, type ClientRequest } from 'node:http';
import { sourceAddress, type HttpAnswer } from './http.ts';

/**
 * Below the 30 requests that may be active, so that a test of the rates reaches no other limit. Also below the bursts of 20 and more: an
 * edge that delayed a burst instead of letting it pass would never refuse one of so few.
 */
const AT_A_TIME = 15;

export type Burst = { admitted: number; refused: HttpAnswer[]; seconds: number };

/** Sends them fifteen at a time. @throws Error for a status of 500 or more. */
export async function burstOf(count: number, ask: (index: number) => Promise<HttpAnswer>): Promise<Burst> {
  const startedAt = performance.now();
  const refused: HttpAnswer[] = [];
  let admitted = 0;
  let index = 0;
  const sender = async (): Promise<void> => {
    while (index < count) {
      index += 1;
      const answer = await ask(index);
      if (answer.status >= 500) throw new Error(`a burst was answered ${answer.status} ${answer.text}`);
      if (answer.status === 429) refused.push(answer);
      else admitted += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, sender));
  return { admitted, refused, seconds: (performance.now() - startedAt) / 1_000 };
}

/**
 * The whole burst must be admitted. Beyond it, only the one request that the rate itself admits at once, and what the elapsed time allows.
 */
export function rateProblems(
  { admitted, refused, seconds }: Burst,
  allowed: { burst: number; perSecond: number },
): string[] {
  const most = Math.ceil(allowed.burst + 1 + seconds * allowed.perSecond);
  return [
    ...(admitted < allowed.burst ? [`only ${admitted} of a burst of ${allowed.burst} were admitted`] : []),
    ...(admitted > most ? [`${admitted} were admitted in ${seconds.toFixed(1)} s, of ${most} at most`] : []),
    ...(refused.length === 0 ? [`all ${admitted} were admitted`] : []),
  ];
}

/** A request whose body never comes. Resolves when the edge says that it waits for the body: from then on it is active. */
export function hold(url: string, from: string): Promise<ClientRequest> {
  const { promise, resolve, reject } = Promise.withResolvers<ClientRequest>();
  const held = request(url, {
    method: 'POST',
    headers: { 'Content-Type': 'text/plain', 'Content-Length': '10', Expect: '100-continue' },
    agent: false,
    localAddress: from,
  });
  held.on('error', reject);
  held.once('response', ({ statusCode }) =>
    reject(new Error(`a request should have waited for its body, but was answered ${statusCode}`)),
  );
  held.once('continue', () => resolve(held));
  held.flushHeaders();
  return promise;
}

/** An address of this machine for one client of one test. */
export const clientAddress = (): string => sourceAddress() ?? '127.0.0.1';
