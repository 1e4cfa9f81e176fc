import { createHmac, timingSafeEqual } from 'node:crypto';
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
