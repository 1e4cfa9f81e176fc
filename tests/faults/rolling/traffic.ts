import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import { fewAtATime, send, type HttpAnswer } from '../../support/http.ts';
import type { JourneyStack } from '../../support/journey-stack.ts';
import { Shop } from '../../support/shop.ts';

/** A payment with the answer to its creation. */
type Created = { shop: Shop; idempotencyKey: string; text: string; payment: Payment };

export type Traffic = {
  /** Stops it, and waits for requests in progress. */
  stop(): Promise<void>;
  created: readonly Created[];
  /** Ids of payments whose transfer is in a block. */
  paid: ReadonlySet<string>;
  /** Each failed request, with its start time. */
  failures: readonly FailedRequest[];
  /** Each request that was answered 503 after a time limit. On a quiet machine a restart is the cause, on a busy one it can be anything. */
  late: readonly FailedRequest[];
  /** The number of successful requests of each kind. */
  answered: ReadonlyMap<string, number>;
};

/** A failed request. If its id is null, it is a transfer that the chain did not accept. */
type FailedRequest = { line: string; requestId: string | null };

/** When a successful request began (`performance.now()`), and how long it took. */
export type Answered = { startedAt: number; ms: number };

type TrafficOptions = {
  shops: number;
  /** Kinds in addition to those of shops and customers. */
  kinds?: readonly Kind[];
  /** How often payments are read, as a multiple of the default. */
  looks?: number;
  /** Whether waiting payments are paid with one transaction in each block, because anvil refuses most of many simultaneous ones. */
  paysTogether?: boolean;
  /** Called for each successful request. */
  onAnswer?: (kind: string, answered: Answered) => void;
};

/** `request` returns null if there is nothing to request. */
export type Kind = {
  name: string;
  everyMs: number;
  expected: number;
  request: (requestId: string) => Promise<HttpAnswer | null>;
};

/** Below the limits of a merchant and an address for a minute: no request here is answered 429. */
const CREATIONS_OF_A_SHOP_EVERY_MS = 2_500;
const READS_OF_A_SHOP_EVERY_MS = 1_000;
/** No time limit on the way is shorter, and a process that is down is noticed at once. */
const LATE_AFTER_MS = 1_000;
/** Number of public links that are read: the newest ones, so that no token reaches its limit. */
const LOOKED_AT = 40;
const PAID_AT_ONCE = { alone: 4, together: 60 };

/**
 * Merchants and customers at the edge. Each kind of request is sent at its own pace, whether or not the previous one was answered, once,
 * from a different address and on a new connection. Nothing is repeated: a failure is a failure.
 */
export async function startTraffic(
  stack: JourneyStack,
  { shops: count, kinds = [], looks = 1, paysTogether = false, onAnswer = () => undefined }: TrafficOptions,
): Promise<Traffic> {
  const shops = await fewAtATime(Array.from({ length: count }, () => () => Shop.open(stack)));
  const created: Created[] = [];
  const paid = new Set<string>();
  const failures: FailedRequest[] = [];
  const late: FailedRequest[] = [];
  const answered = new Map<string, number>();
  const stopping = new AbortController();

  async function once({ name, expected, request }: Kind): Promise<void> {
    const at = new Date().toISOString();
    const requestId = randomUUID();
    const startedAt = performance.now();
    try {
      const answer = await request(requestId);
      if (answer === null) return;
      const ms = performance.now() - startedAt;
      if (answer.status === expected) {
        onAnswer(name, { startedAt, ms });
        return void answered.set(name, (answered.get(name) ?? 0) + 1);
      }
      const isLate = answer.status === 503 && ms >= LATE_AFTER_MS;
      const line = `${at} ${name}: ${answer.status} after ${Math.round(ms)} ms ${answer.text.slice(0, 60)}`;
      (isLate ? late : failures).push({ line, requestId });
    } catch (error) {
      failures.push({ line: `${at} ${name}: ${String((error as NodeJS.ErrnoException).code ?? error)}`, requestId });
    }
  }

  async function repeat(kind: Kind): Promise<void> {
    const underWay = new Set<Promise<void>>();
    // If all shops sent at the same moment, the load would not be steady.
    await pause(kind.everyMs * Math.random());
    while (!stopping.signal.aborted) {
      const work = once(kind).finally(() => underWay.delete(work));
      underWay.add(work);
      await pause(kind.everyMs);
    }
    await Promise.all(underWay);
  }

  const pay = paysTogether
    ? (batch: readonly Created[]) => payTogether(stack, batch)
    : (batch: readonly Created[]) =>
        Promise.all(batch.map(({ shop, payment }) => payOnChain(stack.file.chain, shop.wallet, payment.amount)));

  /** A customer who pays the newest payments, so that there are always payments in progress. */
  async function payAll(): Promise<void> {
    for (let next = 0; !stopping.signal.aborted;) {
      const batch = created.slice(next, next + PAID_AT_ONCE[paysTogether ? 'together' : 'alone']);
      next += batch.length;
      if (batch.length === 0) await pause(100);
      try {
        await pay(batch);
        for (const { payment } of batch) paid.add(payment.payment_id);
      } catch (error) {
        failures.push({ line: `${new Date().toISOString()} paying: ${String(error)}`, requestId: null });
      }
    }
  }

  const pause = (ms: number) => delay(ms, null, { signal: stopping.signal }).catch(() => null);
  const work = [...[...kindsOf(stack, shops, created, looks), ...kinds].map(repeat), payAll()];
  return {
    ...{ created, paid, failures, late, answered },
    async stop() {
      stopping.abort();
      await Promise.all(work);
    },
  };
}

async function payTogether(stack: JourneyStack, batch: readonly Created[]): Promise<void> {
  const token = await ensureToken(stack.file.chain.rpc_url);
  const transfers = batch.map(({ shop, payment }) => {
    return { to: shop.wallet, units: toTokenUnits(parseAmount(payment.amount)!, token.decimals) };
  });
  await token.payBatch(transfers);
}

function kindsOf(stack: JourneyStack, shops: readonly Shop[], created: Created[], looks: number): Kind[] {
  const edge = stack.file.edge_url;
  const read = (name: string, everyMs: number, path: (of: Created) => string): Kind => ({
    ...{ name, everyMs: everyMs / looks, expected: 200 },
    request: async (requestId) => {
      const looked = created.slice(-LOOKED_AT);
      const one = looked[Math.floor(Math.random() * looked.length)];
      if (one === undefined) return null;
      return send('GET', `${edge}${path(one)}`, { headers: headersOf(one.shop, requestId) });
    },
  });
  let serial = 0;
  return [
    ...shops.map((shop): Kind => ({
      ...{ name: 'creation', everyMs: CREATIONS_OF_A_SHOP_EVERY_MS, expected: 201 },
      request: async (requestId) => {
        serial += 1;
        const idempotencyKey = randomUUID();
        const answer = await send('POST', `${edge}/api/v1/payments`, {
          headers: { ...headersOf(shop, requestId), 'Idempotency-Key': idempotencyKey },
          // A different amount each, so that every transfer can pay exactly one payment.
          body: { amount: `1.${String(serial).padStart(6, '0')}`, merchant_wallet: shop.wallet, description: 'Tea' },
        });
        if (answer.status === 201) {
          created.push({ shop, idempotencyKey, text: answer.text, payment: answer.json<Payment>() });
        }
        return answer;
      },
    })),
    ...shops.map((shop): Kind => ({
      ...{ name: 'list', everyMs: 3 * READS_OF_A_SHOP_EVERY_MS, expected: 200 },
      request: (requestId) => send('GET', `${edge}/api/v1/payments`, { headers: headersOf(shop, requestId) }),
    })),
    ...shops.map((shop): Kind => ({
      ...{ name: 'limits', everyMs: 3 * READS_OF_A_SHOP_EVERY_MS, expected: 200 },
      request: (requestId) => send('GET', `${edge}/api/v1/merchant/limits`, { headers: headersOf(shop, requestId) }),
    })),
    read('details', 200, ({ payment }) => `/api/v1/payments/${payment.payment_id}/details`),
    read('deliveries', 300, ({ payment }) => `/api/v1/payments/${payment.payment_id}/webhooks`),
    read('public status', 100, ({ payment }) => `/api/v1/payments/${payment.payment_url.split('/').at(-1) ?? ''}`),
    read('checkout page', 100, ({ payment }) => new URL(payment.payment_url).pathname),
  ];
}

const headersOf = ({ apiKey }: Shop, requestId: string) => ({ 'X-API-Key': apiKey, 'X-Request-ID': requestId });
