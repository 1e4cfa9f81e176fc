import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpError, invalid } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';

/** With this prefix a browser takes it from this host alone, over a connection that is safe, for every path. */
const NAME = '__Host-session';
const ATTRIBUTES = 'Path=/; HttpOnly; Secure; SameSite=Strict';

/** Without an age: it goes when the browser is closed. How long the session itself lasts is decided where it is kept. */
export const sessionCookie = (session: string): string => `${NAME}=${session}; ${ATTRIBUTES}`;

export const noSessionCookie = `${NAME}=; Max-Age=0; ${ATTRIBUTES}`;

/** @returns null unless exactly one is sent: of two, a proxy or another page may have set one. */
export function sessionIn({ headers }: Pick<RouteRequest, 'headers'>): string | null {
  const given = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${NAME}=`));
  const session = given[0]?.slice(NAME.length + 1) ?? '';
  return given.length === 1 && session !== '' ? session : null;
}

/** What the forms of a session carry. It follows from the session's secret, so that nothing is stored for it. */
export const formTokenOf = (session: string): string =>
  createHmac('sha256', session).update('form token').digest('base64url');

export function isFormToken(session: string, given: string): boolean {
  const expected = Buffer.from(formTokenOf(session));
  const bytes = Buffer.from(given);
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

/** A logo, or five hundred addresses, as a form sends them. */
const MAX_BYTES = 96 * 1024;

/**
 * Reads what a form of ours sent.
 * @throws HttpError 403 for a form of another site, 413 for one that is too long, 422 for anything that is no form.
 */
export async function readForm(request: RouteRequest): Promise<URLSearchParams> {
  requireOwnSite(request);
  const { bytes, tooLarge } = await request.readBody(MAX_BYTES);
  if (tooLarge) throw new HttpError(413, `A form has at most ${MAX_BYTES / 1024} KiB`);
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') throw invalid({ field: 'body', reason: 'must be a form' });
  return new URLSearchParams(bytes.toString('utf8'));
}

/** Browsers send the origin of a form. A client that sends none is no browser, and has only cookies that it was given on purpose. */
function requireOwnSite({ headers }: RouteRequest): void {
  const site = headers['sec-fetch-site'] ?? 'same-origin';
  const host = headers.origin === undefined ? headers.host : URL.parse(headers.origin)?.host;
  if (site !== 'same-origin' || host !== headers.host) throw new HttpError(403, 'This form was sent from another site');
}

/** A text that must be there. @throws HttpError 422 naming the field. */
export function textIn(form: URLSearchParams, field: string, maxLength: number): string {
  const text = (form.get(field) ?? '').trim();
  if (text === '') throw invalid({ field, reason: 'must be given' });
  if (text.length > maxLength) throw invalid({ field, reason: `must have at most ${maxLength} characters` });
  return text;
}
