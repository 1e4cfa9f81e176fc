import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import { messagePage } from './pages/layout.ts';
import type { Shop } from './shop.ts';

/**
 * A form leads to at most one payment, and a merchant has 30 creations a minute for all its customers. So one address gets fewer, and
 * cannot keep the others from paying. A whole office may use one address.
 */
const FORMS_AT_MOST = 20;
const WINDOW = '10 minutes';

/** Limits forms from one address, over all processes of the shop. Further ones do nothing, and the page says so. */
export const limitedByVisitor =
  ({ db }: Shop): RequestHandler =>
  async (request, response, next) => {
    const { rows } = await db.query<{ forms: number }>(
      `with over as (delete from visitor_forms where began_at < now() - $2::interval and address <> $1)
       insert into visitor_forms as v (address, began_at, forms) values ($1, now(), 1)
       on conflict (address) do update set
         forms = case when v.began_at < now() - $2::interval then 1 else v.forms + 1 end,
         began_at = case when v.began_at < now() - $2::interval then now() else v.began_at end
       returning forms`,
      [addressBlock(request.ip ?? ''), WINDOW],
    );
    if ((rows[0]?.forms ?? 0) <= FORMS_AT_MOST) next();
    else response.status(429).send(messagePage('Too many orders', 'Please try again in ten minutes.'));
  };

/** An IPv4 address, or the first 64 bits of an IPv6 one, because one visitor usually has all addresses of such a block. */
function addressBlock(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => text.split(':').filter((group) => group !== '');
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail)];
  return `${all.slice(0, 4).join(':')}::/64`;
}

const COOKIE = /(?:^|;\s*)visitor=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:;|$)/;

/** Identifies the browser by a cookie that it gets with the first page. It is not a login: it only finds the browser's own open order. */
export function visitorOf(request: Request, response: Response): string {
  const known = COOKIE.exec(request.headers.cookie ?? '')?.[1];
  if (known !== undefined) return known;
  const visitor = randomUUID();
  response.cookie('visitor', visitor, { httpOnly: true, sameSite: 'lax', secure: request.secure });
  return visitor;
}
