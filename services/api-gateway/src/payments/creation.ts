import { parseAddress, type ParsedAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { defaultNetwork, type Network } from '@quittance/contracts/networks.ts';
import { isVisible } from '@quittance/contracts/visible.ts';
import {
  amount as amountField,
  type CreationRequest,
  merchantWallet,
  network as networkField,
  type OptionRules,
  required,
  type OptionName,
  optionEntries,
} from '@quittance/contracts/api/creation.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import type { RouteRequest } from '@quittance/http/server/route.ts';
import { PROBLEMS_MAX, readJsonBody, type JsonObject } from '../request-body.ts';
import { shapeOf } from './shape.ts';

/** What else the validity of a creation depends on. */
export type CreationRules = OptionRules & { networks: readonly Network[] };

/** A valid creation with its Idempotency-Key, for payments. */
export type Creation = CreationRequest & { idempotency_key: string };

const DESCRIPTION_MAX_CHARACTERS = 500;
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/** JSON Schema of the fields; the code below checks what a value means. */
const shapesOf = (fields: [name: string, type: string][]) =>
  Object.fromEntries(fields.map(([name, type]) => [name, { type }]));

const shapeWith = (names: readonly string[]) =>
  shapeOf({
    required: names,
    properties: shapesOf([
      ...Object.entries({
        amount: amountField,
        ...required,
        merchant_wallet: merchantWallet,
        network: networkField,
      }).map(([name, { type }]): [string, string] => [name, type]),
      ...optionEntries.map(([name, { wire }]): [string, string] => [name, wire.type]),
    ]),
  });

/** Missing fields are named first, in this order, because only the first problems of a request are answered. */
const shapes = { wallet: shapeWith(['merchant_wallet', 'description']), pool: shapeWith(['description']) };
const NO_AMOUNT: ValidationItem = {
  field: 'amount',
  reason: 'is required: exactly one of amount and price must be given',
};

/**
 * Validates a creation: the header, the shape, then the meaning of each field.
 * @throws HttpError 413 for a body over 64 KiB, 422 with every invalid field.
 */
export async function readCreation(request: RouteRequest, rules: CreationRules): Promise<Creation> {
  const idempotencyKey = request.headers['idempotency-key'];
  const body = await readJsonBody(request);
  const key = typeof idempotencyKey === 'string' ? idempotencyKey : undefined;
  const fieldProblems: ValidationItem[] = [];
  const creation = body.value === null ? null : checkFields(body.value, rules, fieldProblems);
  // Missing fields first: only the first problems are answered, and many fields may be given twice.
  const problems = [...keyProblems(key), ...fieldProblems, ...body.problems];
  if (problems.length > 0 || creation === null || key === undefined) throw invalid(...problems.slice(0, PROBLEMS_MAX));
  return { idempotency_key: key, ...creation };
}

/** Visible ASCII has no space, so a header that is given twice is refused too: Node joins its values with ", ". */
function keyProblems(key: string | undefined): ValidationItem[] {
  if (key === undefined) return [{ field: 'Idempotency-Key', reason: 'is required' }];
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return [];
  return [{ field: 'Idempotency-Key', reason: 'must be 1 to 255 visible ASCII characters' }];
}

/** @param problems collects the problems. @returns the creation, or null if a field has no usable value. */
function checkFields(body: JsonObject, rules: CreationRules, problems: ValidationItem[]): CreationRequest | null {
  const { networks } = rules;
  const value = withoutNulls(body);
  const { amount, price, merchant_wallet: wallet, description, network: networkId, wallet_pool: pool } = value;
  if (amount === undefined && price === undefined) problems.push(NO_AMOUNT);
  problems.push(...shapes[pool === undefined ? 'wallet' : 'pool'](value));
  const report = (field: string, reason: string | null) => {
    if (reason !== null) problems.push({ field, reason });
  };
  if (typeof amount === 'string') report('amount', amountProblem(amount));
  const text = typeof description === 'string' ? description.normalize('NFC') : null;
  if (text !== null) report('description', textProblem(text, DESCRIPTION_MAX_CHARACTERS));
  const address = typeof wallet === 'string' ? parseAddress(wallet) : null;
  if (typeof wallet === 'string') report('merchant_wallet', walletProblem(address, networks));
  const network = typeof networkId === 'string' ? networks.find(({ id }) => id === networkId) : undefined;
  if (typeof networkId === 'string') report('network', networkProblem(network, address, networks));
  const options = readOptions(value, rules, report);
  if ((typeof amount !== 'string' && price === undefined) || text === null) return null;
  const asked = { ...(typeof amount === 'string' && { amount }), description: text };
  if (address === null) return { ...asked, ...(network && { network: network.id }), ...options };
  const chosen = network ?? defaultNetwork(networks, address.family);
  return chosen && { ...asked, merchant_wallet: address.address, network: chosen.id, ...options };
}

const optionalFields = new Set([
  'amount',
  'merchant_wallet',
  'network',
  ...optionEntries.map(([name]): string => name),
]);

/** For an optional field, null means the same as leaving it out. */
const withoutNulls = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null || !optionalFields.has(name)));

function amountProblem(amount: string): string | null {
  if (parseAmount(amount) !== null) return null;
  return 'must be a decimal number above zero, with at most 12 digits before the point and 6 after it, e.g. "10.50"';
}

/** Why an address cannot receive payments on any of these networks, or null. @param address null for a text that is none. */
export function walletProblem(address: ParsedAddress | null, networks: readonly Network[]): string | null {
  if (address === null) {
    return 'must be an EVM address (0x and 40 hex digits; mixed case must carry its EIP-55 checksum) or a Tron address (T…)';
  }
  const fitting = networks.filter(({ family }) => family === address.family);
  if (fitting.length === 0) return 'is an address of a kind of network that this service does not watch';
  if (address.hex === ZERO_ADDRESS) return 'must not be the zero address';
  const isToken = fitting.some((network) => parseAddress(network.usdt_contract)?.hex === address.hex);
  return isToken ? 'must not be the USDT contract' : null;
}

function networkProblem(
  network: Network | undefined,
  address: ParsedAddress | null,
  networks: readonly Network[],
): string | null {
  if (network === undefined) return `must be one of ${networks.map(({ id }) => id).join(', ')}`;
  return address !== null && address.family !== network.family ? 'does not fit the address in merchant_wallet' : null;
}

/** C0, C1 and delete; and characters that reorder the text around them, which could make it look different. */
const controlCharacters = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** The problem of a text in NFC that people read, or null. Characters are code points. */
export function textProblem(text: string, maxCharacters: number): string | null {
  if (!text.isWellFormed()) return 'must be valid Unicode';
  const characters = Array.from(text).length;
  if (characters < 1 || characters > maxCharacters) return `must have 1 to ${maxCharacters} characters`;
  if (controlCharacters.test(text)) return 'must not contain control characters';
  return isVisible(text) ? null : 'must have a visible character';
}

/**
 * @param value may have fields of a wrong type, whose problems are already reported.
 * @param report gets a field and its problem, or null.
 * @returns the options, without those that mean the same as their absence.
 */
function readOptions(
  value: JsonObject,
  rules: OptionRules,
  report: (field: string, reason: string | null) => void,
): Pick<CreationRequest, OptionName> {
  const given = optionEntries.filter(([name, { wire }]) => hasType(value[name], wire.type));
  for (const [name, { problem }] of given) report(name, problem(value[name] as never, rules, value));
  const said = given.filter(([name, { isDefault }]) => isDefault?.(value[name] as never) !== true);
  return Object.fromEntries(said.map(([name]) => [name, value[name]]));
}

/** A type of JSON Schema. */
function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}
