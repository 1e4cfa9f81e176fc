import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import { paymentJson } from './creating.ts';
import { done, timestamp, type Settings, type Step, type OtherServices, applyPolicy, unavailable } from './steps.ts';
import { accessRefusal, DAY } from './rules.ts';
import { notifyOfPayment } from './notifying.ts';
import { sayClosed } from './moving.ts';
import { restsUntil } from './own-address.ts';
import { receivedBy } from './reading.ts';
import { observeTransfers, settleAfterEnd } from './settling.ts';
import { isOwn, type Model, usageOf, walletOf } from './state.ts';
import { inOrder } from './whose-money.ts';

/* What the model expects of every call except creations, reads of payments and expiry rounds. Each takes effect in one step. */

/** What a consumer answers once a message took effect. */
const taken = 'taken';

export const observingTransfers =
  (news: readonly TransferObserved[]): Step =>
  (model) => {
    observeTransfers(model, news);
    return done(taken);
  };

export const applyingPolicy =
  (policy: AccessPolicy): Step =>
  (model) => {
    applyPolicy(model, policy);
    return done(taken);
  };

export const configuringWebhook =
  (merchant: string, events: readonly WebhookChoice[]): Step =>
  (model) => {
    model.webhooks.set(merchant, events);
    return done(taken);
  };

/** An operator releases a wallet. The answer is the merchant that lost it. */
export const releasing =
  (wallet: string): Step =>
  (model) => {
    const owner = model.wallets.get(wallet) ?? null;
    if (owner !== null) model.reached.push('wallet: released');
    model.wallets.delete(wallet);
    return done(owner);
  };

/** A merchant ends the rest of an address after its newest payment there, on every network. */
export const endingRest =
  (merchant: string, wallet: string, networks: readonly string[]): Step =>
  (model) => {
    const ended = networks.filter((network) => {
      const own = walletOf(model, { network, wallet }).filter((one) => one.merchant === merchant && isOwn(one));
      const newest = own.sort(inOrder).at(-1);
      // One that is unfinished does not rest yet, and a rest that has ended ends no more.
      if (newest === undefined || restsUntil(newest) <= model.now || restsUntil(newest) === Infinity) return false;
      newest.releasedAt = model.now;
      return true;
    });
    model.reached.push(ended.length === 0 ? 'rest: none to end' : 'rest: ended early');
    return done(
      ended.length === 0 ? { status: 404 } : { status: 200, body: { address: wallet, networks: ended.sort() } },
    );
  };

/** Only a waiting payment can be cancelled, and only by its merchant; everything else is one and the same 409. */
export const cancelling =
  (merchant: string, paymentId: string, settings: Settings): Step =>
  (model) => {
    const payment = model.payments.get(paymentId);
    if (payment?.merchant !== merchant || payment.status !== 'PENDING') {
      const whose = payment === undefined ? 'an unknown' : payment.merchant === merchant ? payment.status : 'a foreign';
      model.reached.push(`cancel: refused for ${whose} payment`);
      return done({ status: 409, body: { detail: 'This payment cannot be cancelled' } });
    }
    payment.status = 'CANCELLED';
    payment.cancelledAt = model.now;
    model.reached.push('payment: PENDING → CANCELLED');
    sayClosed(model, payment, 'CANCELLED');
    settleAfterEnd(model, payment);
    notifyOfPayment(model, 'payment.cancelled', payment, null);
    return done({ status: 200, body: paymentJson(payment, settings, receivedBy(model, payment)) });
  };

/**
 * The creation limits record. When a creation would be refused, quota is asked first, as a creation does; when it does not answer, the
 * stored policy counts.
 */
export const readingLimits =
  (merchant: string, { down, quota }: OtherServices): Step =>
  (model) => {
    const known = model.policies.get(merchant);
    const record = known === undefined ? null : limitsOf(model, known);
    if (record !== null && record.creation_allowed) return done({ status: 200, body: record });
    const policy = quota.get(merchant);
    if (down.has('quota') || policy === undefined)
      return done(record === null ? unavailable : { status: 200, body: record });
    applyPolicy(model, policy);
    model.reached.push('limits: quota was asked');
    return done({ status: 200, body: limitsOf(model, model.policies.get(merchant)!) });
  };

function limitsOf(model: Model, policy: AccessPolicy) {
  const used = usageOf(model, policy.merchant_id);
  const reason = accessRefusal(policy, used, model.now);
  return {
    merchant_id: policy.merchant_id,
    access_type: policy.access_type,
    status: policy.account_active ? 'active' : 'blocked',
    creation_enabled: !policy.creation_paused,
    creation_allowed: reason === null,
    creation_block_reason: reason,
    beta_duration_days: policy.beta_duration_days,
    beta_started_at: policy.beta_started_at,
    beta_expires_at: policy.beta_expires_at,
    total_limit: policy.total_limit,
    requests_used: used.inPackage,
    requests_left: Math.max(0, policy.total_limit - used.inPackage),
    lifetime_requests_used: used.lifetime,
    daily_limit: policy.daily_limit,
    daily_used: used.today,
    daily_left: policy.daily_limit === null ? null : Math.max(0, policy.daily_limit - used.today),
    daily_reset_at: timestamp(model.now - (model.now % DAY) + DAY),
    server_time: timestamp(model.now),
  };
}
