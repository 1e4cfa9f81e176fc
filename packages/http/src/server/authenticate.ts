import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import type { Access } from '@quittance/contracts/operator.ts';
import { refusalOf, type Principal } from '@quittance/contracts/principal.ts';

import { HttpError } from '../errors.ts';
import { OPERATOR_TOKEN_HEADER, readOperatorToken } from '../operator-token.ts';
import type { Route } from './route.ts';

/**
 * Lets through to /internal/ who shows the internal token, or the token of a person, who is kept for what follows. A
 * stranger reaches the calls for anyone alone, and is not told what else there is.
 */
export function authenticate(tokens: readonly string[], routes: readonly Route[]) {
  const open = new Set(
    routes.filter(({ access }) => access === 'anyone').map(({ method, path }) => `${method} ${path}`),
  );
  return (request: Request, response: Response, next: NextFunction) => {
    const { method, headers, baseUrl, path } = request;
    const operatorToken = headers[OPERATOR_TOKEN_HEADER];
    // Both are given by mistake alone, and then the one that may do less counts. A header sent twice arrives joined by a comma, and fails.
    if (operatorToken !== undefined) response.locals.principal = principalOf(tokens, String(operatorToken));
    else if (!isOneOf(tokens, String(headers['x-internal-token'] ?? '')) && !open.has(`${method} ${baseUrl}${path}`))
      throw new HttpError(401, 'Missing or invalid internal token');
    next();
  };
}

/**
 * Nothing of a request is read before this has let it through. Services may do everything.
 * @throws HttpError 403 unless the person who asks may make this call, 404 for a merchant's person who asks about another merchant.
 */
export function requireAccess(
  principal: Principal | null,
  { access = 'services', forMerchants = false }: Pick<Route, 'access' | 'forMerchants'>,
  params: Readonly<Record<string, string | undefined>>,
): void {
  const refusal = refusalOf(principal, { access, forMerchants }, params);
  if (refusal === 'foreign') throw new HttpError(404, 'Not found');
  if (refusal === 'closed') throw new HttpError(403, closedTo(principal, access));
}

function closedTo(principal: Principal | null, access: Access): string {
  if (principal?.role === 'merchant') return 'This is not for merchants';
  return access === 'services' ? 'This is for services, not for operators' : `This needs the role ${access}`;
}

function principalOf(tokens: readonly string[], token: string): Principal {
  const principal = readOperatorToken(tokens, token);
  if (principal === null) throw new HttpError(401, 'Invalid or expired operator token');
  return principal;
}

function isOneOf(tokens: readonly string[], text: string): boolean {
  const given = Buffer.from(text);
  // Only the length of a token, which is no secret, shows in the time this takes: each of them is compared.
  const matches = tokens
    .map((token) => Buffer.from(token))
    .map((token) => given.length === token.length && timingSafeEqual(given, token));
  return matches.includes(true);
}
