import type { IncomingMessage } from 'node:http';

import { HttpError, RequestAborted, invalid } from '../errors.ts';
import type { RouteRequest } from './route.ts';

/**
 * Reads a JSON object from the request's body and passes it to `parse`, which checks and converts it or throws an
 * HttpError.
 * @throws HttpError 413 above `maxBytes`; 422 on the field `body` for another content type, a compressed body, bytes
 *   that are not UTF-8, text that is not JSON, and JSON that is not an object.
 */
export async function readJson<T>(
  request: RouteRequest,
  maxBytes: number,
  parse: (value: Record<string, unknown>) => T,
): Promise<T> {
  const { bytes, tooLarge } = await request.readBody(maxBytes);
  if (tooLarge) throw new HttpError(413, `Request body exceeds ${sizeText(maxBytes)}`);
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (mediaType !== 'application/json')
    throw invalid({ field: 'body', reason: 'content type must be application/json' });
  if ((request.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw invalid({ field: 'body', reason: 'must not be compressed' });
  }
  const parsed = parseJsonObject(bytes);
  if ('reason' in parsed) throw invalid({ field: 'body', reason: parsed.reason });
  return parse(parsed.value);
}

/** @returns the object with its text, or the reason why the bytes are not a JSON object. */
export function parseJsonObject(bytes: Buffer): { value: Record<string, unknown>; text: string } | { reason: string } {
  let reason = 'must be UTF-8';
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    reason = 'must be valid JSON';
    const value: unknown = JSON.parse(text);
    reason = 'must be a JSON object';
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { value: value as Record<string, unknown>, text };
  } catch {
    // `reason` is that of the failed step.
  }
  return { reason };
}

function sizeText(bytes: number): string {
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}

/**
 * The edge sets this header on a request whose body was too large to pass on, so that we still check in the right
 * order: a wrong key is reported before a large body. A client that sets it gets a 413.
 */
const TOO_LARGE_HEADER = 'x-body-too-large';

/**
 * Buffers the body up to `maxBytes`. A longer body is discarded as it arrives, so that the answer can be sent while the
 * client is still sending.
 */
export function readBody(incoming: IncomingMessage, maxBytes: number): Promise<{ bytes: Buffer; tooLarge: boolean }> {
  const tooLarge = { bytes: Buffer.alloc(0), tooLarge: true };
  const declared = Number(incoming.headers['content-length'] ?? 0);
  if (declared > maxBytes || incoming.headers[TOO_LARGE_HEADER] !== undefined) return Promise.resolve(tooLarge);
  if (declared === 0 && incoming.headers['transfer-encoding'] === undefined) {
    return Promise.resolve({ bytes: Buffer.alloc(0), tooLarge: false });
  }
  // Already aborted: no further event will come.
  if (incoming.destroyed && !incoming.readableEnded) return Promise.reject(new RequestAborted());

  const { promise, resolve, reject } = Promise.withResolvers<{ bytes: Buffer; tooLarge: boolean }>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= maxBytes) return void chunks.push(chunk);
    chunks.length = 0;
    incoming.off('data', onData);
    incoming.resume();
    resolve(tooLarge);
  };
  incoming.on('data', onData);
  incoming.once('end', () => resolve({ bytes: Buffer.concat(chunks), tooLarge: false }));
  // Every request closes eventually. Only a close before its end is an error. Errors are expensive to create.
  const onGone = () => incoming.readableEnded || reject(new RequestAborted());
  incoming.once('error', onGone);
  incoming.once('close', onGone);
  return promise;
}
