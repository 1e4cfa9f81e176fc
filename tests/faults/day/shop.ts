import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';

/** Whether each customer has a unique amount, or all pay the bare price. */
export type Kind = 'unique' | 'plain';

/** What customers do. `short`: pays too little; `twice`: sends the same amount again, because nothing seems to happen. */
type Way = 'in time' | 'late' | 'short' | 'twice' | 'never';

/** What is missing: an exchange deducts its fee, or drops the last digits of the amount. */
type Shortage = 'fee' | 'two decimals' | 'three decimals';

export type Customer = {
  /** Also the order_id of the cart. */
  name: string;
  /** All times are in milliseconds; this one counts from the day's midnight. */
  arrivesAfter: number;
  /** Interval at which a refused cart is tried again. */
  retryMs: number;
  way: Way;
  /** From the creation to the first transfer; for a late one, from the payment's end. */
  paysAfter: number;
  /**
   * From the last look at the page to the transfer, because an exchange takes time. A customer who sees that money has arrived sends
   * nothing.
   */
  sendsFor: number;
  /** From the first transfer to the second. */
  paysAgainAfter: number;
  shortage: Shortage;
  /** From the creation to the shop's cancellation, if the customer leaves and the shop cancels. */
  leavesAfter: number;
};

export type Shop = { ttlSeconds: number; cancelsAbandoned: boolean; customers: Customer[] };

export const PRICE = '10.00';
export const CARTS = 99;

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Percentages, with 10 % who order and never pay. */
const WAYS: readonly (readonly [weight: number, way: Way])[] = [
  [73, 'in time'],
  [10, 'late'],
  [5, 'short'],
  [2, 'twice'],
  [10, 'never'],
];

/** Customers arrive between these hours. A cart without a payment at midnight is abandoned. */
const OPENS = 8 * HOUR;
const CLOSES = 22 * HOUR;

/**
 * A shop with 99 carts of one price in a day. Its payments last 15 or 30 minutes. Half of the shops cancel the payment of a customer who
 * leaves the checkout, two to ten minutes after the creation; the others let it expire. A customer who leaves pays late or never.
 */
export function shopOf(chance: Chance): Shop {
  const ttlSeconds = chance.pick([900, 1800]);
  const cancelsAbandoned = chance.happens(0.5);
  const customers = Array.from({ length: CARTS }, (_, place) =>
    customerOf(chance, `cart-${String(place + 1).padStart(2, '0')}`, ttlSeconds * SECOND),
  );
  return { ttlSeconds, cancelsAbandoned, customers };
}

function customerOf(chance: Chance, name: string, ttlMs: number): Customer {
  const way = chance.weighted(WAYS);
  return {
    name,
    arrivesAfter: chance.between(OPENS, CLOSES),
    retryMs: chance.between(10, 30) * SECOND,
    way,
    paysAfter: between(chance, way === 'late' ? LATE : inTime(ttlMs)),
    sendsFor: chance.between(0, 2 * MINUTE),
    paysAgainAfter: chance.between(20 * SECOND, 10 * MINUTE),
    shortage: chance.weighted(SHORTAGES),
    leavesAfter: chance.between(2 * MINUTE, 10 * MINUTE),
  };
}

type Spans = readonly (readonly [weight: number, span: readonly [from: number, to: number]])[];

const between = (chance: Chance, spans: Spans): number => chance.between(...chance.weighted(spans));

/** From one second to six hours after the end, mostly minutes. */
const LATE: Spans = [
  [15, [SECOND, MINUTE]],
  [60, [MINUTE, 20 * MINUTE]],
  [20, [20 * MINUTE, 2 * HOUR]],
  [5, [2 * HOUR, 6 * HOUR]],
];

/** Opening a wallet or an exchange and sending takes minutes; a few customers need nearly all of the time. */
const inTime = (ttlMs: number): Spans => [
  [5, [20 * SECOND, 3 * MINUTE]],
  [4, [3 * MINUTE, 8 * MINUTE]],
  [1, [8 * MINUTE, ttlMs - 30 * SECOND]],
];

const SHORTAGES: readonly (readonly [weight: number, shortage: Shortage])[] = [
  [6, 'fee'],
  [3, 'two decimals'],
  [1, 'three decimals'],
];

/** A common exchange fee, in millionths of a USDT. */
const FEE = 1_000_000n;

/** @returns what arrives when a customer intends to pay this amount; always less. All in millionths of a USDT. */
export function shortOf(units: bigint, shortage: Shortage): bigint {
  const cut = (to: bigint): bigint => units - (units % to);
  const kept = { fee: units, 'two decimals': cut(10_000n), 'three decimals': cut(1_000n) }[shortage];
  // The bare price has no digits to drop.
  return kept === units ? units - FEE : kept;
}
