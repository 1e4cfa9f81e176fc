import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { PlainResponse } from 'got';

import type { ShowCaller } from '../call-token.ts';
import { callHeaders, type ServiceRequest } from './request.ts';
import { startWaiting } from './waiting.ts';

/** An answer that has begun. Its body fails when the service breaks it off. */
export type StreamResponse = { status: number; headers: IncomingHttpHeaders; body: Readable };

/**
 * Not behind the breaker, which counts answers that are whole: a stream may go on for minutes. got, which is loaded with the first one,
 * takes care of its flow and its ends; docs/adr/0009 says why other calls are made without it.
 * @param options.showCaller null for a process that makes calls as a person alone.
 * @throws for a network error, a 5xx, and when the answer does not begin in time.
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
      // What it still says has no reader.
      body.on('error', () => undefined).destroy();
      throw error;
    }
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    wait.end();
  }
}
