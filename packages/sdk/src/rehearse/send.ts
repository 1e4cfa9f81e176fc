import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export type HttpRequest = {
  method: string;
  /** Several values are sent as several headers with that name. */
  headers: Record<string, string | string[]>;
  body: string;
};

/** The result of one request: a status, or the reason why there is none. */
export type Answer = { status: number | null; problem: string | null; ms: number };

/** Sends on a new connection, follows no redirect, and waits only for the status line, as Quittance does. Never throws. */
export function send(url: URL, { method, headers, body }: HttpRequest, timeoutMs: number): Promise<Answer> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { method, headers, agent: false });
    const done = (status: number | null, problem: string | null): void => {
      clearTimeout(timer);
      resolve({ status, problem, ms: Math.round(performance.now() - startedAt) });
    };
    const timer = setTimeout(() => {
      done(null, `no answer within ${timeoutMs / 1_000} s`);
      request.destroy();
    }, timeoutMs);
    request.on('response', (response) => {
      done(response.statusCode ?? null, null);
      response.on('error', () => undefined).resume();
      // An endless body must not keep the rehearsal running.
      response.socket.unref();
    });
    request.on('error', (error: NodeJS.ErrnoException) => done(null, error.code ?? error.message));
    request.end(body);
  });
}

export const isTaken = ({ status }: Answer): boolean => status !== null && status >= 200 && status < 300;

/** For example `answered 204`, or `no answer within 15 s`. */
export const told = ({ status, problem }: Answer): string =>
  status === null ? (problem ?? 'no answer') : `answered ${status}`;
