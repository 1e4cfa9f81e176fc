import { HttpError, type ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';

/** A request for a route, for rules that need no server. Header names are in lower case. */
export function fakeRequest({
  headers = {},
  body = '',
  query = '',
}: {
  headers?: Record<string, string>;
  body?: string | Buffer;
  query?: string;
}): RouteRequest {
  const bytes = Buffer.from(body);
  return {
    method: 'POST',
    path: '/',
    params: {},
    query: new URLSearchParams(query),
    headers,
    rawHeaders: Object.entries(headers).flat(),
    requestId: 'test',
    remoteAddress: '127.0.0.1',
    principal: null,
    readBody: (maxBytes) =>
      Promise.resolve(
        bytes.length > maxBytes ? { bytes: Buffer.alloc(0), tooLarge: true } : { bytes, tooLarge: false },
      ),
  };
}

/** A creation's request with valid headers. */
export const creationRequest = (body: unknown, headers: Record<string, string> = {}): RouteRequest =>
  fakeRequest({
    headers: { 'content-type': 'application/json', 'idempotency-key': 'order-1', ...headers },
    body: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });

/** The validation items of the 422 that `run` throws. */
export async function refusedFields(run: () => unknown): Promise<ValidationItem[]> {
  const error = await refusal(run);
  if (error.status !== 422) throw new Error(`refused with ${error.status} instead of 422`);
  return error.detail as ValidationItem[];
}

/** The HttpError that `run` throws. */
export async function refusal(run: () => unknown): Promise<HttpError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
