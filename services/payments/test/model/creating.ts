import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { accessRefusal, dayOf, DAY, referenceOf, REPLY_KEPT } from './rules.ts';
import {
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
import { isUnfinished, type Model, type ModelPayment, replyOf, slotOf, usageOf } from './state.ts';

export type CreationCall = {
  merchant: string;
  key: string;
  amount: string;
  wallet: string;
  network: string;
  description: string;
  orderId: string | null;
};

const conflicts = {
  key_conflict: 'This Idempotency-Key was already used for another payment',
  webhook_missing: 'Configure a webhook endpoint before creating payments',
  wallet_of_another_merchant: 'This wallet belongs to another merchant',
  slot_taken: 'Finish the current payment with this amount on this address first',
};

type Refusal = CreationBlockReason | keyof typeof conflicts;
type Decision = { status: 201; body: string; replayed: boolean } | { refusal: Refusal } | { unknown: true };
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

/** The order is the contract's: saved reply, access and quota, webhook, wallet, slot. */
function decide(model: Model, creation: Creating): Decision {
  const { call, settings } = creation;
  const units = parseAmount(call.amount);
  if (units === null) throw new Error(`${call.amount} is no amount`);
  const request = canonical([String(units), call.wallet, call.network, call.description, call.orderId]);
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
  const owner = model.wallets.get(call.wallet);
  if (settings.walletBinding && owner !== undefined && owner !== call.merchant) {
    return { refusal: 'wallet_of_another_merchant' };
  }
  if (slotOf(model, { ...call, units }).some(isUnfinished)) return { refusal: 'slot_taken' };
  return { status: 201, body: create(model, creation, units, request), replayed: false };
}

function create(model: Model, { call, settings, answered }: Creating, units: bigint, request: string): string {
  noteCreation(model, call, settings);
  const payment = newPayment(model, call, settings, units, answered.text);
  model.payments.set(payment.id, payment);
  if (settings.walletBinding) model.wallets.set(call.wallet, call.merchant);
  sendMessage(model, 'PaymentCreated', {
    payment_id: payment.id,
    merchant_id: payment.merchant,
    network: payment.network,
    recipient: payment.wallet,
    amount: payment.amount,
    created_at: timestamp(payment.createdAt),
    expires_at: timestamp(payment.expiresAt),
  });
  const body = JSON.stringify(paymentJson(payment, settings));
  model.replies.push({ merchant: call.merchant, key: call.key, at: model.now, request, body });
  return body;
}

/** Only the id and the token are taken from the answer; if it has none, the comparison fails on them. */
function newPayment(
  model: Model,
  call: CreationCall,
  settings: Settings,
  units: bigint,
  answered: string,
): ModelPayment {
  const id = /"payment_id":"(pay_[0-9a-f]{32})"/.exec(answered)?.[1] ?? 'no id was answered';
  const token = /\/pay\/([\w-]{43})"/.exec(answered)?.[1] ?? 'no token was answered';
  const { merchant, network, wallet, amount, description, orderId } = call;
  return {
    ...{ id, token, merchant, network, wallet, amount, units, description, orderId },
    status: 'PENDING',
    createdAt: model.now,
    expiresAt: model.now + settings.ttlSeconds * 1000,
    paidAt: null,
    cancelledAt: null,
  };
}

/** The body that the contract gives a payment, without a transaction. */
export const paymentJson = (payment: ModelPayment, { publicBaseUrl }: Settings) => ({
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
  requested_amount: payment.amount,
  reference: referenceOf(payment.id),
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
  return refusal in conflicts
    ? { status: 409, body: { detail: conflicts[refusal as keyof typeof conflicts] } }
    : { status: 403, code: refusal };
}

function ownerOf(refusal: Refusal): Owner | null {
  if (refusal === 'webhook_missing') return 'webhook';
  return refusal in conflicts ? null : 'policy';
}

function noteReplay(model: Model, call: CreationCall, body: string): void {
  model.reached.push('creation: replayed');
  if (!body.includes(`"amount":"${call.amount}"`))
    model.reached.push('creation: replayed for another text of the amount');
  const policy = model.policies.get(call.merchant);
  const refused = policy && accessRefusal(policy, usageOf(model, call.merchant), model.now);
  if (refused) model.reached.push(`creation: replayed in spite of ${refused}`);
}

function noteCreation(model: Model, call: CreationCall, settings: Settings): void {
  model.reached.push('creation: created');
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
