import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { PlainResponse } from 'got';

import type { ShowCaller } from '../call-token.ts';
import { callHeaders, type ServiceRequest } from './request.ts';
import { startWaiting } from './waiting.ts';

/** An answer that has started. Its body fails when the service breaks it off. */
export type StreamResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

/**
 * Opens a streamed answer. It doesn't use the circuit breaker, which counts whole answers: a stream may take minutes.
 * got, which is loaded with the first stream, handles flow control and errors; docs/adr/0009 says why other calls don't
 * use it.
 * @param options.showCaller null for a process that makes calls only as a person.
 * @throws for a network error, a 5xx, and when the answer doesn't start in time.
 */
export async function openStream(
  request: ServiceRequest,
  url: URL,
  { showCaller, timeoutMs }: { showCaller: ShowCaller | null; timeoutMs: number },
): Promise<StreamResponse> {
  const wait = startWaiting(timeoutMs, { mayCommit: false });
  const { signal } = wait;
  try {
    const { default: got } = await import('got');
    const body = got.stream(url, {
      method: request.method as 'GET',
      ...(request.json !== undefined && { json: request.json }),
      headers: callHeaders(request, showCaller, wait.remainingMs()),
      followRedirect: false,
      throwHttpErrors: false,
      decompress: false,
      retry: { limit: 0 },
    });
    try {
      const [{ statusCode: status, headers }] = (await once(body, 'response', { signal })) as [PlainResponse];
      if (status >= 500) throw new Error(`it answered ${status}`);
      return { status, headers, body };
    } catch (error) {
      // Ignores later errors, because nobody reads the body any more.
      body.on('error', () => undefined).destroy();
      throw error;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    wait.end();
  }
}
