import { StackError } from './directory.ts';
import { until } from './until.ts';

const attemptPauseMs = 500;

/** One JSON call. 503 and lost connections are retried, because services wait for each other while they start. */
export async function callJson<T>(
  url: string,
  method: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<T> {
  const options = {
    method,
    headers: { ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  let last = '';
  const look = async (): Promise<{ json: T } | null> => {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) }).catch(String);
    if (typeof answer === 'string') {
      last = answer;
      return null;
    }
    const text = await answer.text();
    if (answer.status === 503) {
      last = `503 ${text}`;
      return null;
    }
    if (!answer.ok) throw new StackError(`${method} ${url} failed: ${answer.status} ${text}`);
    return { json: JSON.parse(text) as T };
  };
  const { json } = await until(() => `an answer to ${method} ${url} (so far: ${last})`, look, {
    everyMs: attemptPauseMs,
  });
  return json;
}
