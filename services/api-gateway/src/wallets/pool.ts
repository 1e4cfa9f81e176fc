import { parseAddress } from '@quittance/contracts/address.ts';
import { parseExtendedKey } from '@quittance/contracts/extended-key.ts';
import {
  ADDRESSES_AT_ONCE,
  isPoolName,
  type PoolRequest,
  restSeconds,
} from '@quittance/contracts/http/payments/pools.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { pathParameter, type RouteRequest } from '@quittance/http/server/route.ts';
import { walletProblem } from '../payments/creation.ts';
import { shapeOf } from '../payments/shape.ts';
import { PROBLEMS_MAX, readJsonBody, type JsonObject } from '../request-body.ts';

const listFields = ['addresses', 'append'];
const keyFields = ['xpub', 'expect_first_address'];

const shape = shapeOf({
  required: ['network'],
  properties: {
    network: { type: 'string' },
    rest_seconds: { type: 'integer' },
    addresses: { type: 'array' },
    append: { type: 'boolean' },
    xpub: { type: 'string' },
    expect_first_address: { type: 'string' },
  },
});

/**
 * Validates the name and the body of PUT /merchant/wallet-pools/{name}. payments derives the first address of a key, because that takes
 * longer than a request may before it is counted. No reason repeats a value, which may be a private key.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readPool(
  request: RouteRequest,
  networks: readonly Network[],
): Promise<{ name: string; body: PoolRequest }> {
  const name = pathParameter(request.params, 'name');
  const { value, problems } = await readJsonBody(request);
  if (!isPoolName(name))
    problems.unshift({ field: 'name', reason: 'must be 1 to 40 lowercase letters, digits and hyphens' });
  const body = value === null ? null : checkFields(value, networks, problems);
  if (problems.length > 0 || body === null) throw invalid(...problems.slice(0, PROBLEMS_MAX));
  return { name, body };
}

type Report = (field: string, reason: string | null) => void;

/** @param problems collects the problems. @returns the request, or null if a field has no usable value. */
function checkFields(value: JsonObject, networks: readonly Network[], problems: ValidationItem[]): PoolRequest | null {
  problems.push(...shape(value));
  const report: Report = (field, reason) => {
    if (reason !== null) problems.push({ field, reason });
  };
  const { network: id, rest_seconds: rest } = value;
  const network = networks.find((one) => one.id === id);
  if (typeof id === 'string' && network === undefined)
    report('network', `must be one of ${networks.map((one) => one.id).join(', ')}`);
  if (Number.isInteger(rest)) report('rest_seconds', restProblem(Number(rest)));
  const isKey = keyFields.some((field) => field in value);
  if (isKey) {
    for (const field of listFields) report(field, field in value ? 'cannot be combined with xpub' : null);
    for (const field of keyFields) report(field, field in value ? null : 'is required');
  } else if (!('addresses' in value)) report('addresses', 'is required, or xpub and expect_first_address instead');
  const checked = { networks, network, report };
  const source = isKey ? checkKey(value, checked) : checkList(value, checked);
  if (source === null || network === undefined) return null;
  return { network: network.id, ...(Number.isInteger(rest) && { rest_seconds: Number(rest) }), ...source };
}

const restProblem = (seconds: number): string | null =>
  seconds >= restSeconds.min && seconds <= restSeconds.max
    ? null
    : `must be from ${restSeconds.min} to ${restSeconds.max} seconds`;

type Checking = { networks: readonly Network[]; network: Network | undefined; report: Report };

function checkList({ addresses, append }: JsonObject, checking: Checking) {
  if (!Array.isArray(addresses)) return null;
  if (addresses.length < 1 || addresses.length > ADDRESSES_AT_ONCE) {
    checking.report('addresses', `must have 1 to ${ADDRESSES_AT_ONCE} items`);
    return null;
  }
  const canonical = addresses.map((text: unknown, position) => checkAddress(text, `addresses[${position}]`, checking));
  return { addresses: [...new Set(canonical)], append: append === true };
}

function checkKey({ xpub, expect_first_address: expected }: JsonObject, checking: Checking) {
  if (typeof xpub === 'string') checking.report('xpub', parseExtendedKey(xpub).problem);
  if (typeof expected !== 'string' || typeof xpub !== 'string') return null;
  return { xpub, expect_first_address: checkAddress(expected, 'expect_first_address', checking) };
}

/** @returns the canonical spelling; '' for an address with a problem, which is reported. */
function checkAddress(text: unknown, field: string, { networks, network, report }: Checking): string {
  if (typeof text !== 'string') {
    report(field, 'must be a string');
    return '';
  }
  const address = parseAddress(text);
  const problem = walletProblem(address, networks);
  const isOther = problem === null && network !== undefined && address?.family !== network.family;
  report(field, isOther ? 'does not fit the network' : problem);
  return address?.address ?? '';
}
