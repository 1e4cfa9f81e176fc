import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { OPS, type Caller, type CallOwner } from '@quittance/contracts/service-name.ts';
import { type Access, refusalOf, type Principal } from '@quittance/contracts/principal.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { CALL_TOKEN_HEADER, createCallTokenReader, SHARED_TOKEN_HEADER } from '../call-token.ts';
import { HttpError } from '../errors.ts';
import { OPERATOR_TOKEN_HEADER, readOperatorToken } from '../operator-token.ts';
import type { Route } from './route.ts';
import type { LegacyRecord } from './internal-routes.ts';

/**
 * Who makes a request under /internal/: a person, a process, or any client with the token that all services shared up
 * to release 0.2.0.
 */
export type Asking = { person: Principal } | { caller: Caller | 'any service' } | null;

/**
 * Lets requests to /internal/ pass that have a call token or a person's token, and records who makes them. Without a
 * token, only calls that are open to anyone pass; other paths are not revealed.
 */
export function authenticate(
  name: string,
  trust: Trust,
  routes: readonly Route[],
  legacy?: Pick<LegacyRecord, 'accepted'>,
) {
  const readCallToken = createCallTokenReader(name, trust.publicKeys);
  const open = new Set(
    routes.filter(({ access }) => access === 'anyone').map(({ method, path }) => `${method} ${path}`),
  );

  function callerOf({ [CALL_TOKEN_HEADER]: token, [SHARED_TOKEN_HEADER]: shared }: Request['headers']): Asking {
    const caller = readCallToken(String(token ?? ''));
    if (caller !== null) return { caller };
    if (!isOneOf(trust.sharedTokens, String(shared ?? ''))) return null;
    legacy?.accepted('shared_token');
    return { caller: 'any service' };
  }

  return (request: Request, response: Response, next: NextFunction) => {
    const { method, headers, baseUrl, path } = request;
    const operatorToken = headers[OPERATOR_TOKEN_HEADER];
    // A request with both tokens is a mistake, so the person's token counts, which permits less. A header that was sent
    // twice arrives joined by a comma and is refused.
    const asking: Asking =
      operatorToken === undefined ? callerOf(headers) : { person: personOf(trust, String(operatorToken), legacy) };
    if (asking === null && !open.has(`${method} ${baseUrl}${path}`))
      throw new HttpError(401, 'Missing or invalid call token');
    response.locals.asking = asking;
    next();
  };
}

/**
 * Nothing of a request is read before this check passes.
 * @throws HttpError 403 if the caller may not make this call; 404 if a merchant's person asks about another merchant.
 */
export function requireAccess(
  asking: Asking,
  { access = 'services', forMerchants = null, callers = [] }: Pick<Route, 'access' | 'forMerchants' | 'callers'>,
  params: Readonly<Record<string, string | undefined>>,
): void {
  if (asking === null || access === 'anyone') return;
  if ('caller' in asking) {
    if (!mayCall(asking.caller, access, callers)) throw new HttpError(403, `This is not for ${asking.caller}`);
    return;
  }
  const { person } = asking;
  const refusal = refusalOf(person, { access, forMerchants }, params);
  if (refusal === 'foreign') throw new HttpError(404, 'Not found');
  if (refusal === 'role') throw new HttpError(403, `This needs the role ${String(forMerchants)}`);
  if (refusal === 'closed') throw new HttpError(403, closedTo(person, access));
}

function mayCall(caller: Caller | 'any service', access: Access, callers: readonly CallOwner[]): boolean {
  if (caller === 'any service') return true;
  return caller === OPS ? access !== 'services' : callers.includes(caller);
}

function closedTo(person: Principal, access: Access): string {
  if (person.role === 'merchant') return 'This is not for merchants';
  return access === 'services' ? 'This is for services, not for operators' : `This needs the role ${access}`;
}

function personOf(trust: Trust, token: string, legacy?: Pick<LegacyRecord, 'accepted'>): Principal {
  const person = readOperatorToken({ ...trust, sharedTokens: [] }, token);
  if (person !== null) return person;
  const byToken = readOperatorToken(trust, token);
  if (byToken === null) throw new HttpError(401, 'Invalid or expired operator token');
  legacy?.accepted('operator_token');
  return byToken;
}

function isOneOf(tokens: readonly string[], text: string): boolean {
  const given = Buffer.from(text);
  // Every token is compared, so the time this takes reveals only a token's length, which is no secret.
  const matches = tokens
    .map((token) => Buffer.from(token))
    .map((token) => given.length === token.length && timingSafeEqual(given, token));
  return matches.includes(true);
}
