import { timingSafeEqual } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { mayCall, type Access, type Operator } from '@quittance/contracts/operator.ts';

import { HttpError } from '../errors.ts';
import { OPERATOR_TOKEN_HEADER, readOperatorToken } from '../operator-token.ts';
import type { Route } from './route.ts';

/**
 * Lets through to /internal/ who shows the internal token, or the token of an operator; the operator is kept for what follows. A
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
    if (operatorToken !== undefined) response.locals.operator = operatorOf(tokens, String(operatorToken));
    else if (!isOneOf(tokens, String(headers['x-internal-token'] ?? '')) && !open.has(`${method} ${baseUrl}${path}`))
      throw new HttpError(401, 'Missing or invalid internal token');
    next();
  };
}

/** @throws HttpError 403 unless the operator who asks has the role; services have every role. */
export function requireRole(operator: Operator | null, access: Access = 'services'): void {
  if (mayCall(operator, access)) return;
  const who = access === 'services' ? 'This is for services, not for operators' : `This needs the role ${access}`;
  throw new HttpError(403, who);
}

function operatorOf(tokens: readonly string[], token: string): Operator {
  const operator = readOperatorToken(tokens, token);
  if (operator === null) throw new HttpError(401, 'Invalid or expired operator token');
  return operator;
}

function isOneOf(tokens: readonly string[], text: string): boolean {
  const given = Buffer.from(text);
  // Only the length of a token, which is no secret, shows in the time this takes: each of them is compared.
  const matches = tokens
    .map((token) => Buffer.from(token))
    .map((token) => given.length === token.length && timingSafeEqual(given, token));
  return matches.includes(true);
}
