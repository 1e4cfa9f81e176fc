import { sha256 } from '@quittance/contracts/ids.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { applyingPolicy, cancelling, configuringWebhook, endingRest, readingLimits, releasing } from './calls.ts';
import { amounts, type Call, descriptions, orders, prices, type Scanned } from './plan.ts';
import { creating, type CreationCall } from './creating.ts';
import { convert } from './prices.ts';
import { expiring, type Question } from './expiring.ts';
import { timestamp, unavailable } from './steps.ts';
import { operation, type Operation, received } from './operation.ts';
import { acceptance, announcement, publishedBy } from './operations-of-money.ts';
import { readingPublic } from './reading.ts';
import { fromEnd, paymentAt, type Run } from './run.ts';
import { chainIn } from './other-services.ts';

/** @returns null for a call about something that does not exist (yet). */
export function operationOf(run: Run, call: Call): Operation | null {
  switch (call.do) {
    case 'create':
      return creation(run, newCreation(run, call));
    case 'repeat':
      return repetition(run, call);
    case 'cancel':
      return cancellation(run, call);
    case 'transfer':
    case 'next':
    case 'moved':
    case 'deliver':
      return announcement(call.do, publishedBy(run, call));
    case 'batch':
      return announcement(call.do, ...call.parts.map((part) => publishedBy(run, part)));
    case 'accept':
      return acceptance(run, call);
    case 'deliver policy': {
      const policy = fromEnd(run.policies, call.place);
      return policy === undefined ? null : policyDelivery(run, policy);
    }
    case 'deliver webhook':
      return webhookDelivery(run, call.merchant);
    case 'expire':
      return expiry(run, call);
    case 'limits':
      return limits(run, run.merchants[call.merchant]!);
    case 'public':
      return publicStatus(run, call.place);
    case 'release':
      return release(run.wallets[call.wallet]!);
    case 'end rest':
      return restEnding(run, call);
  }
}

function newCreation(run: Run, call: Call & { do: 'create' }): CreationCall {
  const created: CreationCall = {
    merchant: run.merchants[call.merchant]!,
    key: call.key === 0 ? `order-${run.tried.length}` : `key-${call.key}`,
    amount: textsOf(call.priced === true)[call.amount]!,
    isPrice: call.priced === true,
    wallet: run.wallets[call.wallet]!,
    network: run.networks[call.network]!.id,
    description: descriptions[call.description]!,
    orderId: orders[call.order]!,
    own: call.own ?? null,
    percent: call.percent ?? null,
  };
  run.tried.push(created);
  return created;
}

const textsOf = (isPrice: boolean): readonly string[] => (isPrice ? prices : amounts);

/** A key that was used before: with the same request, with the same values in another spelling, or with other values; by any merchant. */
function repetition(run: Run, { place, amount, merchant }: Call & { do: 'repeat' }): Operation | null {
  const before = fromEnd(run.tried, place);
  if (before === undefined) return null;
  const units = parseAmount(before.amount)!;
  const texts = textsOf(before.isPrice);
  const equal = texts.find((text) => parseAmount(text) === units && text !== before.amount) ?? before.amount;
  const other = texts.find((text) => parseAmount(text) !== units)!;
  return creation(run, {
    ...before,
    amount: { 'same text': before.amount, 'same value': equal, another: other }[amount],
    merchant: merchant === null ? before.merchant : run.merchants[merchant]!,
  });
}

export const creation = (
  { settings, otherServices, answered: answers, model }: Run,
  call: CreationCall,
): Operation => ({
  name: `create ${JSON.stringify(call)}`,
  kind: 'create',
  slot: slotOf(call, call.isPrice ? (convert(model, call.amount)?.amount ?? null) : call.amount),
  async perform(replica) {
    const answered = await replica.create(call);
    if (answered.status === 201) {
      answers.push({ merchantId: call.merchant, idempotencyKey: call.key, body: answered.text });
    }
    const body = answered.status === 201 ? answered.text : (JSON.parse(answered.text) as { detail: unknown });
    const answer =
      typeof body === 'string'
        ? { status: answered.status, body, replayed: answered.replayed }
        : answered.status === 403
          ? { status: 403, code: (body.detail as { code: string }).code }
          : { status: answered.status, body };
    return {
      answer,
      program: creating({ call, settings, otherServices, answered }),
      gaveUp: answered.status === 503,
    };
  },
});

/** An address of its own is one slot; which one a pool gives is not known yet. @param amount null without a rate. */
function slotOf({ network, wallet, own }: CreationCall, amount: string | null): string | null {
  if (own === 'pool' || amount === null) return null;
  return [network, wallet, own === null ? parseAmount(amount) : 'alone'].join(' ');
}

function cancellation(run: Run, { place, by, unknown }: Call & { do: 'cancel' }): Operation | null {
  const payment = paymentAt(run, place);
  if (payment === undefined) return null;
  const id = unknown ? `pay_${'0'.repeat(32)}` : payment.id;
  const merchant = by === 'owner' ? payment.merchant : run.merchants.find((other) => other !== payment.merchant)!;
  return {
    ...operation('cancel', `cancel ${id} for ${merchant}`),
    perform: async (replica) => {
      const { status, text } = await replica.cancel(merchant, id);
      return {
        answer: { status, body: JSON.parse(text) as unknown },
        program: cancelling(merchant, id, run.settings),
        gaveUp: status === 503,
      };
    },
  };
}

export const policyDelivery = (run: Run, policy: Run['policies'][number]): Operation => ({
  ...operation('deliver policy', `receive ${JSON.stringify(policy)}`),
  perform: async (replica) =>
    received(await replica.receivePolicy({ ...policy, changed_at: timestamp(run.model.now) }), applyingPolicy(policy)),
});

/** An endpoint exists for good once it was configured. */
export function webhookDelivery(run: Run, position: number): Operation {
  const merchant = run.merchants[position]!;
  const events = run.choices[position]!;
  run.otherServices.endpoints.set(merchant, events);
  return {
    ...operation('deliver webhook', `receive of the endpoint of ${merchant}`),
    perform: async (replica) =>
      received(
        await replica.receiveWebhook({
          ...{ merchant_id: merchant, configured_at: timestamp(run.model.now) },
          ...{ events: [...events], version: 1 },
        }),
        configuringWebhook(merchant, events),
      ),
  };
}

function expiry(run: Run, { scanned, old, unknownWallet }: Call & { do: 'expire' }): Operation {
  const chain = chainIn(run.otherServices, {
    scannedThrough: scannedThrough(run, scanned),
    old,
    unknownWallet: unknownWallet ? (paymentAt(run, 0)?.wallet ?? null) : null,
  });
  const networks = run.networks.map(({ id }) => id);
  return {
    ...operation('expire', `expire, the chain being scanned ${JSON.stringify({ scanned, old, unknownWallet })}`),
    async perform(replica, others) {
      const questions: Question[] = [];
      const answer = await replica.expire(chain, questions);
      return { answer, program: expiring({ networks, questions, others }), gaveUp: answer === 'to be repeated' };
    },
  };
}

function scannedThrough(run: Run, scanned: Scanned): number | null {
  if (scanned.upTo === 'nothing') return null;
  const pending = [...run.model.payments.values()].filter(({ status }) => status === 'PENDING');
  const ends = scanned.upTo === 'expiry' ? pending.map(({ expiresAt }) => expiresAt) : [];
  return Math.min(run.model.now, ...ends) + scanned.milliseconds;
}

const limits = (run: Run, merchant: string): Operation => ({
  ...operation('limits', `limits of ${merchant}`),
  perform: async (replica) => {
    const { status, text } = await replica.limits(merchant);
    return {
      answer: { status, body: JSON.parse(text) as unknown },
      program: readingLimits(merchant, run.otherServices),
      // When quota takes too long, which depends on the machine here, the record has the policy that was stored.
      gaveUp: true,
    };
  },
});

function publicStatus(run: Run, place: number): Operation | null {
  const payment = paymentAt(run, place);
  if (payment === undefined) return null;
  return {
    ...operation('public', `public status of ${payment.id}`),
    perform: async (replica) => ({
      answer: await replica.publicStatus(sha256(payment.token).toString('hex')),
      program: readingPublic(payment.id),
      gaveUp: false,
    }),
  };
}

const release = (wallet: string): Operation => ({
  ...operation('release', `release ${wallet}`),
  perform: async (replica) => ({ answer: await replica.release(wallet), program: releasing(wallet), gaveUp: false }),
});

function restEnding(run: Run, { place, by }: Call & { do: 'end rest' }): Operation | null {
  const payment = paymentAt(run, place);
  if (payment === undefined) return null;
  const merchant = by === 'owner' ? payment.merchant : run.merchants.find((other) => other !== payment.merchant)!;
  const networks = run.networks.map(({ id }) => id);
  return {
    ...operation('end rest', `end the rest of ${payment.wallet} for ${merchant}`),
    perform: async (replica) => {
      const { status, text } = await replica.endRest(merchant, payment.wallet);
      const answer =
        status === 503 ? unavailable : status === 200 ? { status, body: JSON.parse(text) as unknown } : { status };
      return { answer, program: endingRest(merchant, payment.wallet, networks), gaveUp: status === 503 };
    },
  };
}
