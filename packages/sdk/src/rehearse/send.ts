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

const MAX_START_CHARACTERS = 16_384;
/** The status line of an answer, after any interim ones (1xx). */
const statusLine =
  /^(?:\s*HTTP\/\d(?:\.\d)?[ \t]+1\d\d(?:[^\n]*\n)+?\r?\n)*\s*HTTP\/\d(?:\.\d)?[ \t]+([2-9]\d\d)(?:[ \t].*)?\r?\n/;

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
    // Read before Node's parser, which refuses many answers for what follows the status line.
    request.on('socket', (socket) => {
      let start = '';
      socket.prependListener('data', (bytes: Buffer) => {
        start = (start + bytes.toString('latin1')).slice(0, MAX_START_CHARACTERS);
        const [, status] = statusLine.exec(start) ?? [];
        if (status !== undefined) done(Number(status), null);
      });
    });
    request.on('response', (response) => {
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
