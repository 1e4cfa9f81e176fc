import { authorProperties, type Author } from '@quittance/contracts/author.ts';
import type { BodyOf, Call, ParamsOf, QueryOf, ResponseOf } from '@quittance/contracts/call.ts';
import { isActorOfOperator, actorOf, type Principal } from '@quittance/contracts/principal.ts';
import { checkOfSchema } from '@quittance/contracts/schema.ts';
import { requireConfirmation } from '../confirmation.ts';
import { invalid, type ValidationItem } from '../errors.ts';
import { readJson } from './body.ts';
import type { Route, RouteRequest } from './route.ts';

/** A request that matches its call. Parts that the call doesn't have are undefined. */
export type CallRequest<C extends Call> = {
  params: ParamsOf<C>;
  /** Null for an absent parameter. */
  query: QueryOf<C>;
  body: BodyOf<C>;
  author: C['authored'] extends true ? Author : undefined;
  /** The address of the connection's other end. */
  remoteAddress: string;
  /** The person who makes it; null for a service, and for a call without a token. */
  principal: Principal | null;
  /** For a call that needs one only in some states. @throws HttpError 403 unless the person has confirmed this request. */
  requireConfirmation: () => void;
};

/**
 * The route of a call. The handler's result is sent with the call's status. A request that doesn't match the call is
 * 422 with `[{field, reason}]`, naming every problem; a body that is too large is 413.
 */
export function callRoute<C extends Call>(
  call: C,
  handle: (request: CallRequest<C>) => Promise<ResponseOf<C>> | ResponseOf<C>,
): Route {
  const read = callReader(call);
  const { status } = call;
  return { ...wayTo(call), handle: async (request) => ({ status, body: await handle(await read(request)) }) };
}

/** The route of a call without its handler: its path, and who may make it. */
export const wayTo = ({ method, path, access, callers, forMerchants }: Call): Omit<Route, 'handle'> => {
  return { method, path, access, callers, forMerchants };
};

/**
 * For the few routes that answer with their own headers or bytes. @returns a function that reads their requests like
 * `callRoute` does.
 */
export function callReader<C extends Call>(call: C): (request: RouteRequest) => Promise<CallRequest<C>> {
  const check = bodyCheck(call);
  return async (request) => {
    const query = readQuery(call.query, request.query);
    const hasBody = call.method !== 'GET' && (call.confirmed || check !== null);
    const { bytes } = hasBody ? await request.readBody(call.maxBodyBytes) : noBody;
    const confirm = () => request.principal !== null && requireConfirmation(request.principal, request, bytes);
    if (call.confirmed) confirm();
    const value = check === null ? null : await readJson(request, call.maxBodyBytes, check);
    const { actor, reason, ...fields } = value ?? {};
    const parts = call.authored
      ? { body: fields, author: { actor: actorIn(request, String(actor)), reason } }
      : { body: value ?? undefined };
    const { params, remoteAddress, principal } = request;
    return { params, query, ...parts, remoteAddress, principal, requireConfirmation: confirm } as CallRequest<C>;
  };
}

const noBody = { bytes: Buffer.alloc(0) };

/** Nobody but the signed-in person can act under that person's name. */
function actorIn({ principal }: RouteRequest, given: string): string {
  if (principal !== null) return actorOf(principal);
  if (!isActorOfOperator(given)) return given;
  throw invalid({
    field: 'actor',
    reason: 'must not begin with @ or look as if it did: that marks people who signed in',
  });
}

/**
 * @returns the value of each parameter, or null for one that is absent or empty. @throws HttpError 422 naming every invalid
 *   parameter.
 */
export function readQuery<Query extends Call['query']>(
  query: Query,
  given: URLSearchParams,
): { [name in keyof Query]: ReturnType<Query[name]['parse']> | null } {
  const problems: ValidationItem[] = [];
  const values = Object.entries(query).map(([field, parameter]) => {
    const [text, ...others] = given.getAll(field).filter((value) => value !== '');
    const value = text === undefined ? null : parameter.parse(text);
    if (others.length > 0) problems.push({ field, reason: 'is given more than once' });
    else if (text !== undefined && value === null) problems.push({ field, reason: parameter.reason });
    return [field, value] as const;
  });
  if (problems.length > 0) throw invalid(...problems);
  return Object.fromEntries(values) as { [name in keyof Query]: ReturnType<Query[name]['parse']> | null };
}

type JsonObject = Record<string, unknown>;

/** @returns null for a call without a body. */
function bodyCheck({ body, authored }: Call): ((value: JsonObject) => JsonObject) | null {
  if (body.schema === null && !authored) return null;
  const validate = checkOfSchema<JsonObject>(authored ? withAuthor(body.schema) : (body.schema ?? {}));
  return (value) => {
    if (validate(value)) return value;
    throw invalid(
      ...(validate.errors ?? []).map((error) => ({ field: fieldOf(error), reason: error.message ?? 'is invalid' })),
    );
  };
}

/**
 * Unknown fields are refused here, because a person may have misspelled one. Between services they are allowed, because
 * they may come from a newer release.
 */
function withAuthor(schema: { required?: readonly string[]; properties?: object } | null): object {
  return {
    type: 'object',
    additionalProperties: false,
    required: ['actor', 'reason', ...(schema?.required ?? [])],
    properties: { ...authorProperties, ...schema?.properties },
  };
}

/**
 * Ajv names a missing or unknown field in `params`, and any other by its path: `/windows/0/from` is `windows[0].from`.
 */
function fieldOf({ instancePath, params }: { instancePath: string; params: JsonObject }): string {
  const named = params['missingProperty'] ?? params['additionalProperty'];
  const path = typeof named === 'string' ? `${instancePath}/${named}` : instancePath;
  return (
    path
      .slice(1)
      .replaceAll(/\/(\d+)/g, '[$1]')
      .replaceAll('/', '.') || 'body'
  );
}
