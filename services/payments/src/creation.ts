import { createHash } from 'node:crypto';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { CreationRequest } from '@quittance/contracts/payment.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Announcer } from './announcer.ts';
import type { AskOwner } from './ask-owner.ts';
import { openMoments } from './open-moments.ts';
import { toPayment } from './payment-json.ts';
import { type CreationRefusal, type NewPayment, writeCreation } from './store/creation.ts';
import type { PaymentRow } from './store/payment.ts';
import { DEADLINE_MS } from './time-limits.ts';

/** A creation as the gateway validated it. */
export type Creation = CreationRequest & {
  merchant_id: string;
  idempotency_key: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
};

export type CreationOutcome =
  /** `body` holds the exact bytes of the 201, the same for every replay. */
  { outcome: 'created' | 'replayed'; body: Buffer } | { outcome: 'refused'; refusal: CreationRefusal };

export type CreationContext = {
  /** Runs one database transaction, in which no lock is waited for longer than LOCK_TIMEOUT_MS. */
  transact: <T>(run: (tx: Transaction) => Promise<T>) => Promise<T>;
  announcer: Announcer;
  askOwner: AskOwner;
  ttlSeconds: number;
  walletBinding: boolean;
  publicBaseUrl: string;
};

/**
 * Creates a payment, or answers a repeated request with the first answer's bytes.
 * A refusal that rests on what other services said is given only after asking them once, between two transactions: what permits
 * may lag behind, and the merchant that was just activated must not be turned away.
 * @throws ServiceUnavailable or what isUnavailable() recognises when it cannot be decided; then nothing is stored.
 */
export async function createPayment(context: CreationContext, creation: Creation): Promise<CreationOutcome> {
  const asked = new Set<Owner>();
  const deadlineMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const decision = await decide(context, creation, deadlineMs);
    const owner = ownerOf(decision);
    // Each owner is asked once, so this repeats at most twice.
    if (owner === null || asked.has(owner) || !(await context.askOwner[owner](creation.merchant_id))) {
      return answer(decision);
    }
    asked.add(owner);
  }
}

type Owner = keyof AskOwner;
type Decision = CreationOutcome | { outcome: 'unknown_merchant' };

/** Whose word the decision rests on, where a newer word could change it. */
function ownerOf(decision: Decision): Owner | null {
  if (decision.outcome === 'unknown_merchant') return 'policy';
  if (decision.outcome !== 'refused') return null;
  switch (decision.refusal) {
    case 'account_inactive':
    case 'creation_paused':
    case 'beta_not_activated':
    case 'beta_expired':
    case 'total_quota_exhausted':
    case 'daily_quota_exhausted':
      return 'policy';
    case 'webhook_missing':
      return 'webhook';
    case 'key_conflict':
    case 'wallet_of_another_merchant':
    case 'slot_taken':
      return null;
  }
}

/** The gateway let the merchant in, so a quota that has not heard of it is only late. */
function answer(decision: Decision): CreationOutcome {
  if (decision.outcome === 'unknown_merchant') throw unavailable(new Error('quota does not know the merchant yet'));
  return decision;
}

/** @param deadlineMs monotonic milliseconds; nothing is created after them. */
async function decide(context: CreationContext, creation: Creation, deadlineMs: number): Promise<Decision> {
  const result = await context.transact(async (tx) => {
    const written = await writeCreation(tx, newPayment(context, creation));
    if (written.outcome !== 'created') return written;
    // The last moment before the commit. Waiting for a connection, a slow statement and the owner's answer count as well.
    if (performance.now() > deadlineMs) throw unavailable(new Error(`the creation took longer than ${DEADLINE_MS} ms`));
    faultPoint('creation-written');
    context.announcer.created(tx);
    return written;
  });
  faultPoint('creation-committed');
  const { outcome } = result;
  if (outcome === 'created' || outcome === 'replayed' || outcome === 'unknown_merchant') return result;
  return { outcome: 'refused', refusal: outcome };
}

function newPayment(
  { ttlSeconds, walletBinding, publicBaseUrl, announcer }: CreationContext,
  creation: Creation,
): NewPayment {
  // The database's clock decides; these moments only take their places in the texts.
  const now = new Date();
  const payment: PaymentRow = {
    payment_id: newId('pay', now),
    merchant_id: creation.merchant_id,
    public_token: newPublicToken(),
    status: 'PENDING',
    network: creation.network,
    recipient: creation.merchant_wallet,
    amount: creation.amount,
    amount_units: creation.amount_units,
    description: creation.description,
    created_at: now,
    expires_at: now,
    paid_at: null,
    cancelled_at: null,
  };
  const message = announcer.creation(payment);
  return {
    ...payment,
    token_sha256: sha256(payment.public_token),
    ttlSeconds,
    bindWallet: walletBinding,
    idempotencyKey: creation.idempotency_key,
    fingerprint: fingerprintOf(creation),
    reply: openMoments(JSON.stringify(toPayment(payment, null, publicBaseUrl))),
    message: { ...message, body: openMoments(message.body) },
  };
}

/** Two requests are the same when their validated values are: "10.5" and "10.50" are one amount. */
function fingerprintOf(creation: Creation): Buffer {
  const { amount_units: units, merchant_wallet: wallet, network, description } = creation;
  return createHash('sha256')
    .update(JSON.stringify([units.toString(), wallet, network, description]))
    .digest();
}
