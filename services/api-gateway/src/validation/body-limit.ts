import type { RouteRequest } from '@quittance/http/server/route.ts';
import { bodyTooLarge } from '../responses/errors.ts';

/** At most this many bytes of a request's body, for every endpoint. Source: the API contract, "Size and list limits". */
const BODY_MAX_BYTES = 64 * 1024;

/** @throws HttpError 413 for a longer body, whether its length is declared or not. */
export async function readBody(request: RouteRequest): Promise<Buffer> {
  const { bytes, tooLarge } = await request.readBody(BODY_MAX_BYTES);
  if (tooLarge) throw bodyTooLarge();
  return bytes;
}

/** For endpoints without a body: one that is sent is bounded too, and then ignored. */
export async function refuseLargeBody(request: RouteRequest): Promise<void> {
  await readBody(request);
}

/** As refuseLargeBody(), with what the rest of the request says. */
export function bodiless<Input>(read: (request: RouteRequest) => Input): (request: RouteRequest) => Promise<Input> {
  return async (request) => {
    await refuseLargeBody(request);
    return read(request);
  };
}

export async function hasLargeBody(request: RouteRequest): Promise<boolean> {
  return (await request.readBody(BODY_MAX_BYTES)).tooLarge;
}
