import type { Author } from './author.ts';
import type { Access, MerchantRole } from './principal.ts';
import type { CallOwner } from './service-name.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * A JSON value on the wire: its type, and the JSON Schema (draft 2020-12) that is checked at run time. A request body
 * always has a schema. A response has one only if the caller decides about money or access by it. Other responses are
 * built by the owner from this same type and checked by the compiler.
 */
export type Json<T> = { schema: object | null; /** Carries the type, never a value. */ readonly type?: T };

/** Parses the text of a query parameter. `parse` returns null for an invalid text; the 422 then gives `reason`. */
export type QueryParameter<T> = { parse(text: string): T | null; reason: string };

/** One call of an internal API. The route, the service clients and the operator's command line are built from it. */
export type Call<
  Path extends string = string,
  Query extends Record<string, QueryParameter<unknown>> = Record<string, QueryParameter<unknown>>,
  Body = unknown,
  Response = unknown,
  Authored extends boolean = boolean,
> = {
  /** The service that has the route. */
  owner: CallOwner;
  method: Method;
  /** With `:parameters`. */
  path: Path;
  query: Query;
  body: Json<Body>;
  /** Whether the body also contains the operator's name and reason, as `actor` and `reason`. */
  authored: Authored;
  /** Who may make it in addition to `callers`; nobody by default. */
  access: Access;
  /** The services that may make it; none by default. */
  callers: readonly CallOwner[];
  /** From which role on people of the merchant that the path names may make it too; null by default, for nobody. */
  forMerchants: MerchantRole | null;
  /** Whether a person at a console confirms each one with a passkey. Not by default. */
  confirmed: boolean;
  maxBodyBytes: number;
  /** The status of success. Other answers have the body `{"detail": …, "code": …}`. */
  status: number;
  response: Json<Response>;
  /**
   * Whether sending it twice has the same effect as once, so that the client may repeat it when the connection breaks.
   */
  idempotent: boolean;
  /**
   * Whether it may change something. The client then waits longer for the answer, so that a stored change is not
   * reported as a failure.
   */
  changes: boolean;
};

/** The longest body of a call, unless it sets another limit. */
const MAX_BODY_BYTES = 64 * 1024;

/** `GET /merchants/:merchant_id/policy`, below /internal/v1, where all internal calls are. */
type RequestLine = `${Method} /${string}`;
type PathOf<Line extends RequestLine> = Line extends `${Method} ${infer Path}` ? `/internal/v1${Path}` : never;

/**
 * Declares a call. Without `body` it has none. By default, `idempotent` depends on the method.
 * @param more.status 200 by default.
 */
export function defineCall<
  const Line extends RequestLine,
  Response,
  Query extends Record<string, QueryParameter<unknown>> = Record<string, never>,
  Body = undefined,
  Authored extends boolean = false,
>(
  owner: CallOwner,
  requestLine: Line,
  response: Json<Response>,
  more: Partial<Omit<Call<string, Query, Body, Response, Authored>, 'owner' | 'method' | 'path' | 'response'>> = {},
): Call<PathOf<Line>, Query, Body, Response, Authored> {
  const [method, path] = requestLine.split(' ') as [Method, string];
  return {
    owner,
    method,
    path: `/internal/v1${path}` as PathOf<Line>,
    response,
    query: {} as Query,
    body: { schema: null },
    authored: false as Authored,
    access: 'services',
    callers: [],
    forMerchants: null,
    confirmed: false,
    maxBodyBytes: MAX_BODY_BYTES,
    status: 200,
    idempotent: ['GET', 'PUT', 'DELETE'].includes(method),
    changes: method !== 'GET',
    ...more,
  };
}

/** A response of this type. @param schema checks it where the caller decides about money or access by it. */
export const json = <T>(schema: object | null = null): Json<T> => ({ schema });

/**
 * A JSON object with these fields.
 * @param optional fields that may be absent; all others are required.
 */
export function object<T>(
  properties: { [field in keyof T]-?: object },
  { optional = [] }: { optional?: readonly OptionalKey<T>[] } = {},
): Json<T> {
  const required = Object.keys(properties).filter((field) => !(optional as readonly string[]).includes(field));
  return { schema: { type: 'object', required, properties } };
}

type OptionalKey<T> = { [K in keyof T]-?: object extends Pick<T, K> ? K : never }[keyof T];

/** `:merchant_id` in `/merchants/:merchant_id/policy`. */
type ParameterName<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParameterName<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

export type ParamsOf<C extends Call> = { [name in ParameterName<C['path']>]: string };
export type BodyOf<C extends Call> = C['body'] extends Json<infer Body> ? Body : never;
export type ResponseOf<C extends Call> = C['response'] extends Json<infer Response> ? Response : never;

/** The query as the route gets it: the value of each parameter, or null for an absent one. */
export type QueryOf<C extends Call> = { [name in keyof C['query']]: ReturnType<C['query'][name]['parse']> | null };

/** The input that the caller passes. Parts that the call doesn't have are not required. */
export type InputOf<C extends Call> = Part<ParamsOf<C>, 'params'> &
  (C['query'] extends Record<string, never>
    ? object
    : { query?: { [name in keyof C['query']]?: string | number | undefined } }) &
  (BodyOf<C> extends undefined ? object : { body: BodyOf<C> }) & {
    /** Besides our own. */ headers?: Record<string, string>;
  } & (C['authored'] extends true ? { author: Author } : object);

type Part<T, Name extends string> = keyof T extends never ? object : { [name in Name]: T };
