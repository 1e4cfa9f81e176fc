import { createHash } from 'node:crypto';
import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { CreationRequest } from '@quittance/contracts/payment.ts';
import { unavailable } from '@quittance/http/errors.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { creationBlockReason } from './access.ts';
import type { Announcer } from './announcer.ts';
import type { AskOwner } from './ask-owner.ts';
import { toPayment } from './payment-json.ts';
import { type Gate, lockGate } from './store/gate.ts';
import { insertPayment, type PaymentRow, readCreationFacts } from './store/payment.ts';
import type { SavedReply } from './store/reply.ts';
import { DEADLINE_MS } from './time-limits.ts';

/** A creation as the gateway validated it. */
export type Creation = CreationRequest & {
  merchant_id: string;
  idempotency_key: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
};

export type CreationRefusal =
  CreationBlockReason | 'key_conflict' | 'webhook_missing' | 'wallet_of_another_merchant' | 'slot_taken';

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
  const fingerprint = fingerprintOf(creation);
  try {
    const decision = await context.transact(async (tx) => {
      const { reply, gate } = await lockGate(tx, creation.merchant_id, creation.idempotency_key);
      if (reply !== null) return repeat(reply, fingerprint);
      const decided = await createLocked(context, tx, gate, creation, fingerprint);
      // The last moment before the commit. Waiting for a connection, a slow statement and the owner's answer count as well.
      if (decided.outcome === 'created' && performance.now() > deadlineMs) {
        throw unavailable(new Error(`the creation took longer than ${DEADLINE_MS} ms`));
      }
      return decided;
    });
    faultPoint('creation-committed');
    return decision;
  } catch (error) {
    if (error instanceof Refused) return { outcome: 'refused', refusal: error.refusal };
    throw error;
  }
}

/** The second half of the transaction: nobody else creates for this merchant now. */
async function createLocked(
  context: CreationContext,
  tx: Transaction,
  gate: Gate | null,
  creation: Creation,
  fingerprint: Buffer,
): Promise<Decision> {
  if (gate === null || gate.policy === null) return { outcome: 'unknown_merchant' };
  const facts = await readCreationFacts(tx, {
    merchantId: creation.merchant_id,
    idempotencyKey: creation.idempotency_key,
    network: creation.network,
    recipient: creation.merchant_wallet,
    amountUnits: creation.amount_units,
  });
  if (facts.reply !== null) return repeat(facts.reply, fingerprint);
  const blocked = creationBlockReason(gate.policy, gate.usage, facts.now);
  if (blocked !== null) return { outcome: 'refused', refusal: blocked };
  if (!gate.webhookOk) return { outcome: 'refused', refusal: 'webhook_missing' };
  const foreign = facts.walletOwner !== null && facts.walletOwner !== creation.merchant_id;
  if (context.walletBinding && foreign) return { outcome: 'refused', refusal: 'wallet_of_another_merchant' };
  if (facts.slotTaken) return { outcome: 'refused', refusal: 'slot_taken' };

  const payment = newPayment(creation, facts.now, context.ttlSeconds);
  const body = Buffer.from(JSON.stringify(toPayment(payment, null, context.publicBaseUrl)));
  const written = await insertPayment(tx, {
    ...payment,
    tokenSha256: sha256(payment.public_token),
    idempotencyKey: creation.idempotency_key,
    reply: { fingerprint, body },
    bindWallet: context.walletBinding && facts.walletOwner === null,
  });
  if (written !== 'created') throw new Refused(written);
  await context.announcer.created(tx, payment);
  faultPoint('creation-written');
  return { outcome: 'created', body };
}

/** Lost a race against another merchant after writing had begun: the transaction rolls back. */
class Refused extends Error {
  readonly refusal: CreationRefusal;
  constructor(refusal: CreationRefusal) {
    super(refusal);
    this.refusal = refusal;
  }
}

function repeat(reply: SavedReply, fingerprint: Buffer): CreationOutcome {
  if (!reply.fingerprint.equals(fingerprint)) return { outcome: 'refused', refusal: 'key_conflict' };
  return { outcome: 'replayed', body: reply.body };
}

/** Two requests are the same when their validated values are: "10.5" and "10.50" are one amount. */
function fingerprintOf(creation: Creation): Buffer {
  const { amount_units: units, merchant_wallet: wallet, network, description } = creation;
  return createHash('sha256')
    .update(JSON.stringify([units.toString(), wallet, network, description]))
    .digest();
}

function newPayment(creation: Creation, now: Date, ttlSeconds: number): PaymentRow {
  return {
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
    expires_at: new Date(now.getTime() + ttlSeconds * 1000),
    paid_at: null,
    cancelled_at: null,
  };
}
