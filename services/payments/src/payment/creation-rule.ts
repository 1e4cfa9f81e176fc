import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { newPaymentId } from '@quittance/contracts/payment-reference.ts';
import { type CreationRequest, keptNames, type KeptValues, optionEntries } from '@quittance/contracts/api/creation.ts';
import { amountOf, type Price, type Rate } from '@quittance/contracts/rates.ts';
import { creationBlockReason } from '../gate/limits.ts';
import type { Gate } from '../gate/gate.sql.ts';
import type { PaymentRow } from './payment.sql.ts';
import { toPayment } from './view.ts';
import type { Facts, NewPayment, SavedReply } from './create.sql.ts';

/** A creation as the gateway validated it. With a `wallet_pool`, wallet and network may be null. */
export type Creation = Omit<CreationRequest, 'amount' | 'merchant_wallet' | 'network'> & {
  merchant_wallet: string | null;
  network: string | null;
  merchant_id: string;
  idempotency_key: string;
  /** The amount in USDT and its millionths. Null for a price that is not converted, because that takes place later or there is no rate. */
  amount: string | null;
  amount_units: bigint | null;
  /** The rate that converted the price. */
  rate?: Rate;
};

export type CreationRefusal =
  | CreationBlockReason
  | 'key_conflict'
  | 'webhook_missing'
  | 'wallet_of_another_merchant'
  | 'unknown_pool'
  | 'pool_of_another_network'
  | 'pool_network_off'
  | 'pool_exhausted'
  | 'wallet_in_use'
  | 'wallet_dedicated'
  | 'slot_taken'
  | 'rate_unavailable'
  | 'price_too_high';

/** `body` holds the exact bytes of the 201, the same for every replay. `unknown_merchant`: no policy has arrived from quota. */
export type CreationResult =
  | { outcome: 'created' | 'replayed'; body: Buffer }
  | { outcome: 'unknown_merchant' }
  | { outcome: CreationRefusal };

/** A deployment's settings for creations. */
export type CreationRules = {
  /** How long a payment waits when the creation doesn't say. */
  ttlSeconds: number;
  /** Whether a wallet belongs to the first merchant that creates a payment on it. */
  walletBinding: boolean;
  publicBaseUrl: string;
  /** Ids of the enabled networks. */
  networks: readonly string[];
};

/** What the decision is based on. `gate` is null when it is not locked, or unknown. */
export type Known = Facts & { gate: Gate | null };

export type Decision =
  | { outcome: 'created'; write: NewPayment }
  | Exclude<CreationResult, { outcome: 'created' | 'replayed' }>
  | { outcome: 'replayed'; body: Buffer }
  /** Another creation holds the price or the address, or addresses of the pool have to be derived first. */
  | { outcome: 'undecided' };

/** The rule of a creation. The first condition that applies decides. */
export function decide(creation: Creation, known: Known, rules: CreationRules): Decision {
  const { gate, reply, owner, is_proven: isProven, free_units: units } = known;
  if (reply !== null)
    return isSameRequest(creation, reply, rules.ttlSeconds)
      ? { outcome: 'replayed', body: reply.body }
      : { outcome: 'key_conflict' };
  if (gate === null) return { outcome: 'unknown_merchant' };
  const blocked = creationBlockReason(gate.policy, gate.usage, createdAt(known));
  if (blocked !== null) return { outcome: blocked };
  if (!gate.webhookOk) return { outcome: 'webhook_missing' };
  if (creation.amount === null) return { outcome: creation.rate === undefined ? 'rate_unavailable' : 'price_too_high' };
  const place = placeOf(creation, known, rules);
  if ('outcome' in place) return place;
  if ((rules.walletBinding || isProven) && owner !== null && owner !== creation.merchant_id)
    return { outcome: 'wallet_of_another_merchant' };
  if (units === 0n) return { outcome: 'undecided' };
  if (known.is_used) return { outcome: isAlone(creation) ? 'wallet_in_use' : 'wallet_dedicated' };
  if (units === null) return { outcome: 'slot_taken' };
  return {
    outcome: 'created',
    write: newPayment(creation, { ...known, ...place, units, asked: creation.amount }, rules),
  };
}

/** Where the money goes. */
type Place = { network: string; recipient: string };

function placeOf(
  { wallet_pool: pool, network: asked }: Creation,
  { network, recipient, source_id: source, is_derived: isDerived }: Known,
  { networks }: CreationRules,
): Place | Exclude<Decision, { outcome: 'created' | 'replayed' }> {
  if (pool !== undefined && source === null) return { outcome: 'unknown_pool' };
  if (network === null) throw new Error('a creation names neither a network nor a pool');
  if (pool !== undefined && asked !== null && asked !== network) return { outcome: 'pool_of_another_network' };
  if (pool !== undefined && !networks.includes(network)) return { outcome: 'pool_network_off' };
  if (recipient !== null) return { network, recipient };
  return { outcome: isDerived ? 'undecided' : 'pool_exhausted' };
}

/** Whether the payment has its address for itself. */
const isAlone = ({ wallet_pool: pool, dedicated_wallet: isDedicated }: Creation): boolean =>
  pool !== undefined || isDedicated === true;

function isSameRequest(creation: Creation, reply: SavedReply, ttlSeconds: number): boolean {
  const { fingerprint, equal_fingerprint: equal } = fingerprintsOf(creation, ttlSeconds);
  if (fingerprint.equals(reply.fingerprint)) return true;
  if (reply.equal_fingerprint !== null) return fingerprint.equals(reply.equal_fingerprint);
  return equal !== null && equal.equals(reply.fingerprint);
}

/** If the clock is set back by less than this, a payment must still come after the others of its slot. */
const CLOCK_SET_BACK_MS = 150_000;

function createdAt({ clock, newest_at: newest }: Pick<Facts, 'clock' | 'newest_at'>): Date {
  const isClose = newest !== null && newest.getTime() <= clock.getTime() + CLOCK_SET_BACK_MS;
  return isClose ? new Date(newest.getTime() + 1) : clock;
}

/** Everything that an allowed creation writes. */
function newPayment(
  creation: Creation,
  known: Known & Place & { units: bigint; asked: string },
  rules: CreationRules,
): NewPayment {
  const isUnique = creation.unique_amount === true;
  const { units, asked, network, recipient } = known;
  const created = createdAt(known);
  const payment: PaymentRow = {
    payment_id: newPaymentId(created),
    merchant_id: creation.merchant_id,
    public_token: newPublicToken(),
    status: 'PENDING',
    network,
    recipient,
    amount: isUnique ? uniqueAmount(units) : asked,
    amount_units: units,
    requested_amount: isUnique ? asked : null,
    description: creation.description,
    ...keptValues(creation),
    created_at: created,
    expires_at: new Date(created.getTime() + (creation.expires_in ?? rules.ttlSeconds) * 1_000),
    paid_at: null,
    cancelled_at: null,
    rest_seconds: known.rest_seconds,
    released_at: null,
    derivation_index: known.derivation_index,
    rate: creation.rate ?? null,
  };
  return {
    payment,
    token_sha256: sha256(payment.public_token),
    binds_wallet: rules.walletBinding && known.owner === null,
    idempotency_key: creation.idempotency_key,
    ...fingerprintsOf(creation, rules.ttlSeconds),
    reply: JSON.stringify(
      toPayment({ ...payment, received_amount: payment.rest_seconds === null ? null : '0' }, null, rules.publicBaseUrl),
    ),
  };
}

const keptValues = (creation: Creation): KeptValues =>
  Object.fromEntries(keptNames.map((name) => [name, creation[name] ?? null])) as KeptValues;

/** A creation with a price gets its amount in USDT, with two decimals. @param rate null while there is none. */
export function withRate(creation: Creation, rate: Rate | null): Creation {
  if (creation.price === undefined || rate === null) return creation;
  const units = amountOf(creation.price, rate.value);
  return { ...creation, rate, amount_units: units, amount: units === null ? null : decimalsOf(units, 2) };
}

/** With four decimals, or six when the amount needs them. */
const uniqueAmount = (units: bigint): string => decimalsOf(units, units % 100n === 0n ? 4 : 6);

function decimalsOf(units: bigint, decimals: number): string {
  const [whole, fraction = ''] = formatUnits(units, 6).split('.');
  return `${whole}.${fraction.padEnd(decimals, '0')}`;
}

type Fingerprints = Pick<NewPayment, 'fingerprint' | 'equal_fingerprint'>;

type Requested = Omit<Creation, 'merchant_id' | 'idempotency_key' | 'rate'>;

/**
 * Two requests are the same when their validated values are: "10.5" and "10.50" are one amount, and an option with its default value equals
 * an absent one. The default of `expires_in` is a setting, which may change before a request is repeated. So there are two fingerprints:
 * one of the request as it is, and one of the other form that means the same today. A saved reply has both, and either finds it. A request
 * without options keeps the fingerprint from before options existed, so that saved replies are still found.
 * @param ttlSeconds the value of `expires_in` when it is absent.
 */
export function fingerprintsOf(creation: Requested, ttlSeconds: number): Fingerprints {
  const { expires_in: seconds, ...others } = creation;
  const fingerprint = hash(creation);
  if (seconds === undefined) return { fingerprint, equal_fingerprint: hash({ ...others, expires_in: ttlSeconds }) };
  return { fingerprint, equal_fingerprint: seconds === ttlSeconds ? hash(others) : null };
}

function hash(creation: Requested): Buffer {
  const { amount_units: units, price, merchant_wallet: wallet, network, description } = creation;
  const options = optionsOf(price === undefined ? creation : { ...creation, price: byValue(price) });
  const said = Object.keys(options).length > 0 ? [options] : [];
  // The rate of a price changes before it is repeated, and its amount with it.
  const amount = price === undefined ? String(units) : null;
  return sha256(JSON.stringify([amount, wallet, network, description, ...said]));
}

/** In the order of their definitions, without options that are absent or have their default value. */
function optionsOf(creation: Requested): Record<string, unknown> {
  const said = optionEntries.filter(
    ([name, { isDefault }]) => creation[name] !== undefined && isDefault?.(creation[name] as never) !== true,
  );
  return Object.fromEntries(said.map(([name]) => [name, inOneOrder(creation[name])]));
}

/** "49.9" and "49.90" are one price. */
const byValue = ({ amount, currency }: Price): Price => ({
  amount: formatUnits(parseAmount(amount) ?? 0n, AMOUNT_DECIMALS),
  currency,
});

const inOneOrder = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).sort(byName) : value;

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);
