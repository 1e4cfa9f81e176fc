import type { IncomingHttpHeaders } from 'node:http';

import type { Call, InputOf, ResponseOf } from '@quittance/contracts/call.ts';
import { checkOfSchema, describeErrors } from '@quittance/contracts/schema.ts';
import { currentRequestId } from '@quittance/runtime/logger.ts';

import type { ShowCaller } from '../call-token.ts';
import { OPERATOR_TOKEN_HEADER } from '../operator-token.ts';
import { TIMEOUT_HEADER } from '../headers.ts';

/** A call with its parameters filled in. */
export type ServiceRequest = Pick<Call, 'owner' | 'method' | 'path' | 'idempotent' | 'changes'> & {
  query: URLSearchParams;
  json?: object;
  headers?: Record<string, string>;
  /** The token of the operator for whom the call is made. */
  operatorToken?: string;
};

export type ServiceResponse = { status: number; headers: IncomingHttpHeaders; body: Buffer };

/** The second argument of a call; omitted when the call has no input. */
export type Given<C extends Call> = object extends InputOf<C> ? [input?: InputOf<C>] : [input: InputOf<C>];

/** Builds the request of a call. Parameters are percent-encoded. Undefined query parameters are left out. */
export function requestOf<C extends Call>(call: C, input: InputOf<C> | undefined): ServiceRequest {
  const { params = {}, query = {}, body, author, headers } = (input ?? {}) as Parts;
  const path = call.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  const json = call.authored ? { ...body, ...author } : body;
  const { owner, method, idempotent, changes } = call;
  return {
    owner,
    method,
    path,
    idempotent,
    changes,
    query: new URLSearchParams(given),
    ...(json !== undefined && { json }),
    ...(headers !== undefined && { headers }),
  };
}

type Parts = {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: object;
  author?: object;
  headers?: Record<string, string>;
};

/**
 * Headers that say who makes a call, and on whose behalf.
 * @param showCaller null for a process that makes calls only as a person.
 * @param remainingMs how long the caller waits for the answer.
 */
export function callHeaders(
  { owner, operatorToken, headers }: ServiceRequest,
  showCaller: ShowCaller | null,
  remainingMs: number,
  traceparent?: string,
): Record<string, string> {
  const requestId = currentRequestId();
  return {
    ...headers,
    ...showCaller?.(owner),
    [TIMEOUT_HEADER]: String(remainingMs),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
    ...(traceparent !== undefined && { traceparent }),
    ...(operatorToken !== undefined && { [OPERATOR_TOKEN_HEADER]: operatorToken }),
  };
}

/**
 * @throws Error for a status that isn't the call's success, for a body that is not a JSON object, and for one that
 *   doesn't match the call's schema.
 */
export function readAnswer<C extends Call>(call: C, { status, body }: ServiceResponse): ResponseOf<C> {
  if (status !== call.status) throw new Error(`it answered ${status}`);
  const value: unknown = JSON.parse(body.toString('utf8'));
  if (typeof value !== 'object' || value === null)
    throw new Error(`its answer to ${call.method} ${call.path} is not a JSON object`);
  const validate = validatorOf(call.response.schema);
  if (validate?.(value) === false)
    throw new Error(`its answer to ${call.method} ${call.path} does not fit: ${describeErrors(validate.errors)}`);
  return value as ResponseOf<C>;
}

const validators = new WeakMap<object, ReturnType<typeof checkOfSchema>>();

function validatorOf(schema: object | null): ReturnType<typeof checkOfSchema> | null {
  if (schema === null) return null;
  const validate = validators.get(schema) ?? checkOfSchema(schema);
  validators.set(schema, validate);
  return validate;
}
