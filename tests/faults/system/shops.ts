import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AMOUNT_DECIMALS, formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { transferOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Chance } from '../../../services/chain-watcher/test/random-run/chance.ts';
import { Shop, type Answer } from '../../support/shop.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { customerOf, type Customer, partsCustomerOf } from './customers.ts';
import { looksOf } from './looks.ts';
import type { World } from './world.ts';

/** A shop's request for a payment. */
export type Order = {
  shop: Shop;
  idempotencyKey: string;
  body: { amount: string } & Record<string, unknown>;
  customer: Customer;
  /** The body of the 201, once it was received. */
  text: string | null;
  payment: Payment | null;
  /** Ids of the transactions that its customer has sent. */
  sent: string[];
  /** When it was first requested, and when the 201 was received; milliseconds since 1970. */
  askedAt: number;
  answeredAt: number | null;
};

export type Shops = {
  all: readonly Shop[];
  orders: readonly Order[];
  /** Answers that no fault explains. */
  wrong: readonly string[];
  /** Stops new orders, and waits until each was answered, or a minute has passed since everything healed. */
  end(): Promise<void>;
  lines(): string[];
};

/** A merchant may create 30 payments a minute. */
const ORDER_EVERY_MS = 2_600;
/** Each repetition counts toward the same thirty. */
const ASK_AGAIN_MS = 2_000;
/** A shop with this many orders in progress accepts no more. */
const MOST_WAITING = 6;
const PATIENCE_MS = 90_000;
/** Statuses that a fault explains: nothing was stored, the outcome is unknown, or too many requests were sent. */
const passing = new Set([429, 502, 503, 504]);

/** Shops that do everything a shop may do, and their customers. Each repeats unanswered requests, as the docs require. */
export async function startShops(world: World, count: number, chance: Chance): Promise<Shops> {
  const all = await Promise.all(Array.from({ length: count }, () => openShop(world)));
  const orders: Order[] = [];
  const wrong: string[] = [];
  const counts = new Map<string, number>();
  const ending = new AbortController();
  let giveUpAt = Infinity;
  const pause = (ms: number) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const tally = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);

  /** Repeats the request until there is an answer that no fault explains. @returns null if none came in time. */
  async function ask<T>(what: string, expected: readonly number[], call: () => Promise<Answer<T>>) {
    while (performance.now() < giveUpAt) {
      const answer = await call().catch(() => null);
      if (answer !== null && !passing.has(answer.status)) {
        tally(`${what}: ${answer.status}`);
        if (!expected.includes(answer.status)) wrong.push(`${what} was answered ${answer.status} ${answer.text}`);
        return expected.includes(answer.status) ? answer : null;
      }
      tally(`${what}: ${answer === null ? 'no answer' : answer.status}`);
      await delay(Math.max(ASK_AGAIN_MS, 1_000 * Number(answer?.headers['retry-after'] ?? 0)));
    }
    wrong.push(`${what} was never answered, also after everything had healed`);
    return null;
  }

  async function carryOut(order: Order): Promise<void> {
    const { shop, body, idempotencyKey, customer } = order;
    const headers = { 'Idempotency-Key': idempotencyKey };
    const what = body['wallet_pool'] === undefined ? 'creation' : 'creation from a pool';
    const created = await ask<Payment>(what, [201, ...(isShared(body) ? [409] : [])], () =>
      shop.call('POST', '/payments', body, headers),
    );
    // Another payment holds the amount.
    if (created?.status !== 201) return;
    order.answeredAt = Date.now();
    order.text = created.text;
    order.payment = created.body;
    const { payment_id: id, amount, merchant_wallet: wallet } = created.body;
    const send = async (...amounts: string[]): Promise<string | null> => {
      const units = amounts.map((text) => parseAmount(text)!);
      // The transaction may be in a block that is replaced, and lost.
      const sent = await transferOnChain(world.stack.file.chain, wallet, units).catch(() => null);
      tally(sent === null ? 'a transfer that did not stay' : 'a transfer');
      if (sent !== null) order.sent.push(sent.transactionHash.slice(2));
      return sent?.transactionHash ?? null;
    };
    await customer({
      amount,
      expiresAt: Date.parse(created.body.expires_at),
      send,
      cancel: () => ask('cancellation', [200, 409], () => shop.call('POST', `/payments/${id}/cancel`)),
      accept: async (hash) => {
        // A person has decided which payment it is for.
        const details = await ask<PaymentDetails>('details', [200], () => shop.call('GET', `/payments/${id}/details`));
        const item = details?.body.unmatched_transfers.find((one) => `0x${one.transaction_id}` === hash);
        const transfer = {
          transaction_id: hash,
          transaction_event_index: 0,
          confirm_candidates: item?.candidate_count ?? 1,
        };
        // It is not final yet, or the chain has lost it again.
        await ask('acceptance', [200, 409], () => shop.call('POST', `/payments/${id}/accept-transfer`, transfer));
      },
    });
  }

  let serial = 0;
  async function runShop(shop: Shop, own: Chance): Promise<void> {
    // Not all of them at the same time.
    await pause(own.below(ORDER_EVERY_MS));
    const working = new Set<Promise<void>>();
    const look = looksOf(world, shop, orders, ask);
    while (!ending.signal.aborted) {
      await pause(ORDER_EVERY_MS);
      if (working.size >= MOST_WAITING) continue;
      serial += 1;
      const isAlone = world.hasOwnAddresses && own.happens(0.25);
      const order: Order = {
        ...{ shop, idempotencyKey: randomUUID(), text: null, payment: null, sent: [] },
        ...{ customer: isAlone ? partsCustomerOf(own) : customerOf(own), askedAt: Date.now(), answeredAt: null },
        body: isAlone ? poolBodyOf(own) : bodyOf(own, serial, shop.wallet),
      };
      orders.push(order);
      for (const work of [carryOut(order), look(own)]) {
        const tracked = work.catch((error: unknown) => void wrong.push(String(error)));
        working.add(tracked);
        void tracked.finally(() => working.delete(tracked));
      }
    }
    await Promise.all(working);
  }
  const running = all.map((shop, position) => runShop(shop, chance.apart(String(position))));
  return {
    ...{ all, orders, wrong },
    async end() {
      ending.abort();
      giveUpAt = performance.now() + PATIENCE_MS;
      await Promise.all(running);
    },
    lines: () => [...counts].sort().map(([what, count]) => `  ${String(count).padStart(8)}  ${what}`),
  };
}

/** More than a shop's orders in any run: an address is not given twice, because it rests. */
const POOL_SIZE = 300;

async function openShop({ stack, hasOwnAddresses }: World): Promise<Shop> {
  const shop = await Shop.open(stack);
  if (!hasOwnAddresses) return shop;
  const pool = { network: stack.file.chain.network, addresses: Array.from({ length: POOL_SIZE }, newWallet) };
  const { status, text } = await shop.call('PUT', '/merchant/wallet-pools/shop', pool);
  if (status !== 200) throw new Error(`the pool was answered ${status} ${text}`);
  return shop;
}

/** An order with an address of its own, often of the same amount as others at the same time. */
const poolBodyOf = (chance: Chance): Order['body'] => ({
  ...{ amount: chance.pick(['20.00', '31.50']), wallet_pool: 'shop', description: 'One cup of coffee' },
  ...(chance.happens(0.5) && { accept_from_percent: chance.pick([50, 90, 99]) }),
  expires_in: chance.between(8, 60),
});

/** The amount of many orders of a shop, one after the other as soon as it is free. */
const SHARED_AMOUNT = '77.70';

const isShared = ({ amount }: Order['body']): boolean => amount === SHARED_AMOUNT;

/**
 * Three kinds of orders: with a different amount each; with a unique amount of one price; and with the same amount one after the other on
 * the shop's wallet, so that late customers of one order can be confused with those of the next. Customers who order and do not pay disturb
 * the last two.
 */
function bodyOf(chance: Chance, serial: number, wallet: string): Order['body'] {
  const isUnique = chance.happens(0.25);
  const isNext = !isUnique && chance.happens(0.4);
  const plain = formatUnits(BigInt(100_000_000 + serial * 10_000 + chance.below(10) * 1_000), AMOUNT_DECIMALS);
  return {
    ...{ merchant_wallet: wallet, description: 'One cup of coffee' },
    amount: isUnique ? '49.90' : isNext ? SHARED_AMOUNT : plain,
    ...(isUnique && { unique_amount: true }),
    ...(chance.happens(0.5) && { order_id: `order ${serial}`, metadata: { basket: String(serial) } }),
    expires_in: chance.between(8, 60),
  };
}
