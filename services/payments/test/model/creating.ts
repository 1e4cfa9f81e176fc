import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { restOf } from './moving.ts';
import { convert } from './prices.ts';
import { givable, heldUntil, isUnfinished, type Listed, longestUnused, sharedUntil } from './own-address.ts';
import { accessRefusal, dayOf, DAY, referenceOf, REPLY_KEPT } from './rules.ts';
import {
  type AddressPool,
  type Answered,
  canonical,
  done,
  timestamp,
  sendMessage,
  type Settings,
  type Step,
  type OtherServices,
  applyPolicy,
  unavailable,
} from './steps.ts';
import { type Conversion, isOwn, type Model, type ModelPayment, replyOf, slotOf, usageOf, walletOf } from './state.ts';

export type CreationCall = {
  merchant: string;
  key: string;
  /** In USDT, or the price in euros. */
  amount: string;
  isPrice: boolean;
  wallet: string;
  network: string;
  description: string;
  orderId: string | null;
  /** Asks for an address of its own: this wallet, or one of its merchant's pool, which then stands for wallet and network. */
  own: 'wallet' | 'pool' | null;
  /** The part of the amount that is enough, in percent. */
  percent: number | null;
};

const conflicts = {
  key_conflict: 'This Idempotency-Key was already used for another payment',
  webhook_missing: 'Configure a webhook endpoint before creating payments',
  wallet_of_another_merchant: 'This wallet belongs to another merchant',
  wallet_pool_exhausted: 'No address of this wallet pool is free: all are in use or rest',
  wallet_in_use: 'A payment on this address is unfinished or rests, or shared it in the last 30 days',
  wallet_dedicated: 'A payment has this address for itself, or had it until recently',
  slot_taken: 'Finish the current payment with this amount on this address first',
};

type Refusal = CreationBlockReason | keyof typeof conflicts | 'unknown_pool' | 'rate_unavailable';
type Decision = { status: 201; body: string; replayed: boolean } | { refusal: Refusal } | { unknown: true };
/** Where the money goes, and how long the address rests when it is for this payment alone. */
type Place = { network: string; wallet: string; rest: number | null };
type Owner = 'policy' | 'webhook';

/** Everything that decides about creations, with the answer to this one. */
type Creating = { call: CreationCall; settings: Settings; otherServices: OtherServices; answered: Answered };

/**
 * POST …/payments. Each read of the database is a step. Before a refusal that a newer decision of quota or webhook-dispatcher could lift,
 * they are asked, once each.
 */
export const creating =
  (creation: Creating, asked: readonly Owner[] = []): Step =>
  (model) => {
    const decision = decide(model, creation);
    const owner = 'refusal' in decision ? ownerOf(decision.refusal) : 'unknown' in decision ? 'policy' : null;
    if (owner === null || asked.includes(owner)) return done(answerOf(model, decision, asked));
    return { next: asking(creation, asked, owner, decision) };
  };

const asking =
  (creation: Creating, asked: readonly Owner[], owner: Owner, decision: Decision): Step =>
  (model) => {
    const { call, otherServices } = creation;
    if (otherServices.down.has(owner === 'policy' ? 'quota' : 'webhooks')) {
      model.reached.push('creation: 503 because an owner gave no answer');
      return done(unavailable);
    }
    if (owner === 'policy') {
      const policy = otherServices.quota.get(call.merchant);
      if (policy === undefined) return done(answerOf(model, decision, asked));
      applyPolicy(model, policy);
    } else {
      const events = otherServices.endpoints.get(call.merchant);
      if (events === undefined) return done(answerOf(model, decision, asked));
      model.webhooks.set(call.merchant, events);
    }
    return { next: creating(creation, [...asked, owner]) };
  };

/** The order is the contract's: saved reply, access and quota, webhook, pool, wallet, slot. */
function decide(model: Model, creation: Creating): Decision {
  const { call } = creation;
  const units = parseAmount(call.amount);
  if (units === null) throw new Error(`${call.amount} is no amount`);
  const where = call.own === 'pool' ? 'pool' : [call.wallet, call.network, call.own];
  const request = canonical([String(units), call.isPrice, where, call.description, call.orderId, call.percent]);
  const reply = replyOf(model, call.merchant, call.key);
  if (reply !== undefined) {
    if (reply.request !== request) return { refusal: 'key_conflict' };
    noteReplay(model, call, reply.body);
    return { status: 201, body: reply.body, replayed: true };
  }
  const policy = model.policies.get(call.merchant);
  if (policy === undefined) return { unknown: true };
  const blocked = accessRefusal(policy, usageOf(model, call.merchant), model.now);
  if (blocked !== null) return { refusal: blocked };
  if (!model.webhooks.has(call.merchant)) return { refusal: 'webhook_missing' };
  const priced = call.isPrice ? convert(model, call.amount) : null;
  if (call.isPrice && priced === null) return { refusal: 'rate_unavailable' };
  const place = placeOf(model, creation);
  if (typeof place === 'string') return { refusal: place };
  const amount = priced?.amount ?? call.amount;
  const asked = { ...place, amount, units: parseAmount(amount)!, priced };
  const refusal = refusalAt(model, creation, place, asked.units);
  if (refusal !== null) return { refusal };
  return { status: 201, body: create(model, creation, { ...asked, request }), replayed: false };
}

/** A payment with an address of its own rests for a day; one of a pool as long as the pool says. */
function placeOf(model: Model, creation: Creating): Place | Refusal {
  const { call, answered } = creation;
  if (call.own !== 'pool') return { ...call, rest: call.own === null ? null : DAY };
  const pool = creation.settings.pools.get(call.merchant);
  if (pool === undefined) return 'unknown_pool';
  const free = givable(listOf(model, creation, pool), model.now, pool.rest);
  const longest = longestUnused(free);
  const named = /"merchant_wallet":"(0x[0-9a-fA-F]{40})"/.exec(answered.text)?.[1];
  const given = free.find(({ address }) => address === named);
  // The pool must give an address that no other payment uses.
  const isOdd = given !== undefined && longestUnused([given]) === undefined;
  const chosen = isOdd || longest === undefined ? given : longest;
  if (chosen === undefined) return 'wallet_pool_exhausted';
  return { network: pool.network, wallet: chosen.address, rest: pool.rest };
}

const listOf = (model: Model, { call, settings }: Creating, pool: AddressPool): Listed[] =>
  pool.addresses.map((address) => {
    const owner = model.wallets.get(address) ?? call.merchant;
    const payments = walletOf(model, { network: pool.network, wallet: address });
    const others = [...settings.pools].filter(([merchant]) => merchant !== call.merchant);
    return {
      ...{ address, payments },
      isForeign: settings.walletBinding && owner !== call.merchant,
      isContested:
        owner !== call.merchant ||
        payments.some(({ merchant }) => merchant !== call.merchant) ||
        others.some(([, { addresses }]) => addresses.includes(address)),
    };
  });

function refusalAt(model: Model, { call, settings }: Creating, place: Place, units: bigint): Refusal | null {
  const owner = model.wallets.get(place.wallet);
  if (settings.walletBinding && owner !== undefined && owner !== call.merchant) return 'wallet_of_another_merchant';
  const there = walletOf(model, place);
  const until = call.own === 'wallet' ? sharedUntil(there, SHARED_FOR) : -Infinity;
  if (Math.max(heldUntil(there), until) > model.now) return call.own === null ? 'wallet_dedicated' : 'wallet_in_use';
  return slotOf(model, { ...place, units }).some(isUnfinished) ? 'slot_taken' : null;
}

/** An address that payments share is not given to a single one within this time after their end. */
const SHARED_FOR = 30 * DAY;

type New = Place & { amount: string; units: bigint; priced: Conversion | null; request: string };

function create(model: Model, { call, settings, answered }: Creating, place: New): string {
  noteCreation(model, { ...call, ...place }, settings);
  const payment = newPayment(model, call, settings, place, answered.text);
  model.payments.set(payment.id, payment);
  if (settings.walletBinding) model.wallets.set(place.wallet, call.merchant);
  sendMessage(model, 'PaymentCreated', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    network: payment.network,
    recipient: payment.wallet,
    amount: payment.amount,
    created_at: timestamp(payment.createdAt),
    expires_at: timestamp(payment.expiresAt),
    ...restOf(payment),
  });
  const body = JSON.stringify(paymentJson(payment, settings));
  const { request } = place;
  model.replies.push({ merchant: call.merchant, key: call.key, at: model.now, request, body });
  return body;
}

/** Only the id and the token are taken from the answer; if it has none, the comparison fails on them. */
function newPayment(
  model: Model,
  call: CreationCall,
  settings: Settings,
  { network, wallet, rest, amount, units, priced }: New,
  answered: string,
): ModelPayment {
  const id = /"payment_id":"(pay_[0-9a-f]{32})"/.exec(answered)?.[1] ?? 'no id was answered';
  const token = /\/pay\/([\w-]{43})"/.exec(answered)?.[1] ?? 'no token was answered';
  const { merchant, description, orderId, percent } = call;
  return {
    ...{ id, token, merchant, network, wallet, amount, units, priced, description, orderId, rest, percent },
    status: 'PENDING',
    createdAt: model.now,
    expiresAt: model.now + settings.ttlSeconds * 1000,
    paidAt: null,
    cancelledAt: null,
    releasedAt: null,
  };
}

/** The body that the contract gives a payment, without a transaction. @param received what has arrived at an address of its own. */
export const paymentJson = (payment: ModelPayment, { publicBaseUrl }: Settings, received = '0') => ({
  payment_id: payment.id,
  payment_url: `${publicBaseUrl}/pay/${payment.token}`,
  status: payment.status,
  amount: payment.amount,
  currency: 'USDT',
  network: payment.network,
  merchant_wallet: payment.wallet,
  description: payment.description,
  created_at: timestamp(payment.createdAt),
  expires_at: timestamp(payment.expiresAt),
  paid_at: payment.paidAt === null ? null : timestamp(payment.paidAt),
  cancelled_at: payment.cancelledAt === null ? null : timestamp(payment.cancelledAt),
  transaction: null,
  order_id: payment.orderId,
  metadata: {},
  return_url: null,
  accept_from_percent: payment.percent,
  price: payment.priced?.price ?? null,
  requested_amount: payment.amount,
  reference: referenceOf(payment.id),
  dedicated: isOwn(payment),
  derivation_index: null,
  received_amount: isOwn(payment) ? received : null,
  rate: payment.priced?.rate ?? null,
});

function answerOf(model: Model, decision: Decision, asked: readonly Owner[]): unknown {
  if ('unknown' in decision) {
    model.reached.push('creation: 503 because nobody knows the merchant');
    return unavailable;
  }
  if ('status' in decision) {
    if (!decision.replayed && asked.length > 0) model.reached.push('creation: created after an owner was asked');
    return decision;
  }
  const { refusal } = decision;
  model.reached.push(`creation: ${refusal}`);
  if (refusal === 'unknown_pool') {
    const detail = [{ field: 'wallet_pool', reason: 'is not the name of one of your wallet pools' }];
    return { status: 422, body: { detail } };
  }
  if (refusal === 'rate_unavailable') return { status: 424, body: { detail: 'There is no rate' } };
  return refusal in conflicts
    ? { status: 409, body: { detail: conflicts[refusal as keyof typeof conflicts] } }
    : { status: 403, code: refusal };
}

function ownerOf(refusal: Refusal): Owner | null {
  if (refusal === 'webhook_missing') return 'webhook';
  return refusal in conflicts || ['unknown_pool', 'rate_unavailable'].includes(refusal) ? null : 'policy';
}

function noteReplay(model: Model, call: CreationCall, body: string): void {
  model.reached.push('creation: replayed');
  const { amount, price } = JSON.parse(body) as { amount: string; price: { amount: string } | null };
  if ((price?.amount ?? amount) !== call.amount)
    model.reached.push('creation: replayed for another text of the amount');
  if (call.isPrice && convert(model, call.amount)?.amount !== amount)
    model.reached.push('creation: replayed with an earlier rate');
  const policy = model.policies.get(call.merchant);
  const refused = policy && accessRefusal(policy, usageOf(model, call.merchant), model.now);
  if (refused) model.reached.push(`creation: replayed in spite of ${refused}`);
}

function noteCreation(model: Model, call: CreationCall, settings: Settings): void {
  model.reached.push('creation: created');
  if (call.isPrice) model.reached.push('creation: created with a price');
  if (call.isPrice && call.own !== null) model.reached.push('creation: created with a price and an address of its own');
  if (call.own !== null) model.reached.push(`creation: created with an address of its own, by ${call.own}`);
  if (call.own !== null && walletOf(model, call).some(isOwn))
    model.reached.push('creation: created with an address that another payment had for itself');
  const before = model.replies.findLast(({ merchant, key }) => merchant === call.merchant && key === call.key);
  if (before !== undefined) model.reached.push('creation: created again under a key whose reply was forgotten');
  if (before?.at === model.now - REPLY_KEPT)
    model.reached.push('creation: created in the moment the reply is forgotten');
  const own = [...model.payments.values()].filter(({ merchant }) => merchant === call.merchant);
  const limit = model.policies.get(call.merchant)?.daily_limit ?? Infinity;
  const yesterday = own.filter(({ createdAt }) => dayOf(createdAt) === dayOf(model.now - DAY)).length;
  if (yesterday >= limit && limit > 0)
    model.reached.push('creation: created the day after the daily quota was used up');
  const owners = [...model.payments.values()].filter(({ wallet }) => wallet === call.wallet);
  if (!settings.walletBinding && owners.some(({ merchant }) => merchant !== call.merchant)) {
    model.reached.push('creation: created on a wallet that others use, without binding');
  }
}
