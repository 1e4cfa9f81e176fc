import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Got, PlainResponse } from 'got';

import { currentRequestId } from '@quittance/runtime/logger.ts';

import { OPERATOR_TOKEN_HEADER } from '../operator-token.ts';
import { TIMEOUT_HEADER } from '../timeout-header.ts';
import type { ServiceRequest } from './request.ts';
import { startWaiting } from './waiting.ts';

/** An answer that has begun. Its body fails when the service breaks it off. */
export type StreamResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

/**
 * Not behind the breaker, which counts answers that are whole: a stream may go on for minutes.
 * @throws for a network error, a 5xx, and when the answer does not begin in time.
 */
export async function openStream(
  http: Got,
  { method, json, operatorToken }: ServiceRequest,
  url: URL,
  timeoutMs: number,
): Promise<StreamResponse> {
  const requestId = currentRequestId();
  const wait = startWaiting(timeoutMs);
  const body = http.stream(url, {
    method: method as 'GET',
    ...(json === undefined ? {} : { json }),
    headers: {
      ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      ...(operatorToken === undefined ? {} : { [OPERATOR_TOKEN_HEADER]: operatorToken }),
      [TIMEOUT_HEADER]: String(wait.remainingMs()),
    },
    retry: { limit: 0 },
  });
  try {
    const [{ statusCode: status, headers }] = (await once(body, 'response', { signal: wait.signal })) as [
      PlainResponse,
    ];
    if (status >= 500) throw new Error(`it answered ${status}`);
    return { status, headers, body };
  } catch (error) {
    // What it still says has no reader.
    body.on('error', () => undefined).destroy();
    throw wait.signal.aborted ? wait.signal.reason : error;
  } finally {
    wait.end();
  }
}
