import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

import { callHeaders, type ServiceRequest } from './request.ts';
import type { Transport } from './transport.ts';
import { startWaiting } from './waiting.ts';

/** An answer that has begun. Its body fails when the service breaks it off. */
export type StreamResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

/**
 * Not behind the breaker, which counts answers that are whole: a stream may go on for minutes.
 * @throws for a network error, a 5xx, and when the answer does not begin in time.
 */
export async function openStream(
  transport: Transport,
  request: ServiceRequest,
  url: URL,
  timeoutMs: number,
): Promise<StreamResponse> {
  const wait = startWaiting(timeoutMs);
  const { signal } = wait;
  try {
    const headers = callHeaders(request, wait.remainingMs());
    const body = await transport.open(request, url, { headers, signal });
    const { statusCode: status = 0, headers: answered } = body;
    if (status < 500) return { status, headers: answered, body };
    body.destroy();
    throw new Error(`it answered ${status}`);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    wait.end();
  }
}
