import type { Author } from '@quittance/contracts/author.ts';
import type { ApiKeyScope } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { sha256 } from '@quittance/contracts/ids.ts';
import {
  actorOf,
  isMerchantPerson,
  mayAct,
  type MerchantPerson,
  type MerchantRole,
} from '@quittance/contracts/principal.ts';
import { requireConfirmation } from '@quittance/http/confirmation.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { headerValues } from '@quittance/http/headers.ts';
import { OPERATOR_TOKEN_HEADER, readOperatorToken } from '@quittance/http/operator-token.ts';
import type { AuditedAction } from '../merchants/audit.sql.ts';
import type { Reply, Route, RouteRequest } from '@quittance/http/server/route.ts';
import type { Admission } from './admission.ts';
import type { Count, RateLimit } from './admission.sql.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What a route asks of an API key and of a merchant's person. */
const rights = {
  read: { scope: 'read', role: 'viewer', confirmed: false },
  orders: { scope: 'orders', role: 'staff', confirmed: false },
  acceptance: { scope: 'all', role: 'staff', confirmed: true },
  profile: { scope: 'all', role: 'owner', confirmed: false },
  settings: { scope: 'all', role: 'owner', confirmed: true },
} as const satisfies Record<string, { scope: ApiKeyScope; role: MerchantRole; confirmed: boolean }>;

/** A request that was admitted, with its merchant and its validated input. */
type Admitted<Input> = {
  /** The path parameter of the calls to other services. */
  merchant: { merchant_id: string };
  /** Who asks, for the audit log: the merchant's program, or one of its people. */
  author: Author;
  /** When the merchant's previous authenticated request came, or null for its first. */
  previousRequestAt: Date | null;
  input: Input;
};

type Spec<Input> = {
  limit: RateLimit;
  /** Validates the request before it is counted. @throws HttpError 413, which is counted, or 422. */
  read: (request: RouteRequest) => Promise<Input> | Input;
  handle: (admitted: Admitted<Input>) => Promise<Reply>;
};

/** A route that changes something says who may, and what the audit log calls it when a person does. */
type Changing = {
  right: Exclude<keyof typeof rights, 'read'>;
  /** Null where the handler writes the entry itself. */
  action: AuditedAction | null;
};

type Asked<Input> = (Omit<Spec<Input>, 'handle'> & Changing) | (Omit<Spec<Input>, 'handle'> & { right: 'read' });

/** A route for merchants that only reads. It refuses in this order: 401, 413, 422, 429. */
export const merchantRead = <Input>(admission: Admission, path: `/api/v1/${string}`, spec: Spec<Input>): Route =>
  routeOf(admission, 'GET', path, { ...spec, right: 'read' }, spec.handle);

/** A route for merchants that changes something. It refuses in this order: 401, 403 for a person, 413, 422, 429. */
export function merchantChange<Input>(
  admission: Admission,
  requestLine: `${Exclude<Method, 'GET'>} /api/v1/${string}`,
  spec: Spec<Input> & Changing,
): Route {
  const [method, path] = requestLine.split(' ') as [Method, string];
  return routeOf(admission, method, path, spec, spec.handle);
}

const routeOf = <Input>(
  admission: Admission,
  method: Method,
  path: string,
  asked: Asked<Input>,
  handle: Spec<Input>['handle'],
): Route => ({ method, path, handle: async (request) => handle(await admit(admission, request, asked)) });

/**
 * Validates first, without I/O, so that one statement can check the key and count the request. An invalid request is not counted. A request
 * whose body is too large is counted, because its content is not read.
 */
async function admit<Input>(
  admission: Admission,
  request: RouteRequest,
  asked: Asked<Input>,
): Promise<Admitted<Input>> {
  const { scope } = rights[asked.right];
  const keyHash = apiKeyHash(request);
  const person = keyHash === null ? personIn(admission, request) : null;
  if (keyHash === null && person === null) throw invalidApiKey();
  if (person !== null) await requireRight(person, request, asked.right);
  const outcome = await refusalOf(() => asked.read(request));
  const limit = !('refusal' in outcome) || outcome.refusal.status === 413 ? asked.limit : null;
  const caller =
    keyHash === null
      ? await admission.person(person?.merchant_id ?? '', limit)
      : await admission.caller({ keyHash, scope, limit });
  if (caller === null) throw invalidApiKey();
  if ('refusal' in outcome) throw outcome.refusal;
  if (caller.counted !== null) assertBelowLimit(caller.counted, caller.counted);
  const { merchantId, previousRequestAt } = caller;
  const author = person === null ? byMerchant : { actor: actorOf(person), reason: 'at the console' };
  if (person !== null && asked.right !== 'read' && asked.action !== null) {
    const change = { before: null, after: { ...request.params, request_id: request.requestId } };
    await admission.audit({ merchantId, action: asked.action, author, change });
  }
  return { merchant: { merchant_id: merchantId }, author, previousRequestAt, input: outcome.input };
}

const byMerchant: Author = { actor: 'merchant', reason: 'asked for with an API key' };

/** A console sends the token of a merchant's person instead of an API key. Operators have calls of their own. */
function personIn({ trust }: Admission, { headers }: RouteRequest): MerchantPerson | null {
  const token = headers[OPERATOR_TOKEN_HEADER];
  const person = typeof token === 'string' ? readOperatorToken(trust, token) : null;
  return person !== null && isMerchantPerson(person) ? person : null;
}

/** @throws HttpError 403. */
async function requireRight(person: MerchantPerson, request: RouteRequest, right: keyof typeof rights): Promise<void> {
  const { role, confirmed } = rights[right];
  if (!mayAct(person, role)) throw new HttpError(403, `This needs the role ${role}`);
  if (confirmed) requireConfirmation(person, request, (await request.readBody(CONFIRMED_MAX_BYTES)).bytes);
}

/** As long as the body of any route may be. */
const CONFIRMED_MAX_BYTES = 64 * 1024;

async function refusalOf<Input>(
  read: () => Promise<Input> | Input,
): Promise<{ input: Input } | { refusal: HttpError }> {
  try {
    return { input: await read() };
  } catch (error) {
    if (error instanceof HttpError) return { refusal: error };
    throw error;
  }
}

const invalidApiKey = (): HttpError => new HttpError(401, 'Missing or invalid API key');

/** @throws HttpError 429 if the count is over the limit. */
export function assertBelowLimit(limit: Pick<RateLimit, 'limit'>, counted: Count): void {
  if (counted.count > limit.limit) throw rateLimited(counted.secondsLeft);
}

/** @param secondsLeft whole seconds until the window ends. */
export const rateLimited = (secondsLeft: number): HttpError =>
  new HttpError(429, 'Rate limit exceeded', { 'retry-after': String(secondsLeft) });

const API_KEY_MAX_CHARACTERS = 255;

/**
 * SHA-256 of the request's API key.
 * @returns null if the header is missing, too long, or given twice, because a proxy might use the other value.
 */
export function apiKeyHash({ rawHeaders }: RouteRequest): Buffer | null {
  const [key = '', ...others] = headerValues(rawHeaders, 'x-api-key');
  return key === '' || others.length > 0 || key.length > API_KEY_MAX_CHARACTERS ? null : sha256(key);
}

/**
 * SHA-256 of the request's rotation secret, of any length: each secret that is tried has a counter. A header that is given twice is one joined
 * text, as in HTTP. It is never a valid secret, so it is counted and refused.
 * @returns null if the header is missing or empty.
 */
export function rotationSecretHash({ rawHeaders }: RouteRequest): Buffer | null {
  const values = headerValues(rawHeaders, 'secret-key');
  return values.every((value) => value === '') ? null : sha256(values.join(', '));
}
