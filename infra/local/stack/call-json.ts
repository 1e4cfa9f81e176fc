import { StackError } from './directory.ts';

const attempts = 20;
const attemptPauseMs = 500;

/** One JSON call. 503 and lost connections are retried for ten seconds, because services wait for each other while they start. */
export async function callJson<T>(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<T> {
  let last = '';
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const options = {
      method,
      headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) }).catch((error: unknown) =>
      String(error),
    );
    if (typeof answer !== 'string') {
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as T;
      last = `${answer.status} ${text}`;
      if (answer.status !== 503) break;
    } else last = answer;
    await new Promise((resolve) => setTimeout(resolve, attemptPauseMs));
  }
  throw new StackError(`${method} ${url} failed: ${last}`);
}
