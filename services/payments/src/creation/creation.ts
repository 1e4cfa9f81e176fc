import { creationBlockReasons } from '@quittance/contracts/access.ts';
import { newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { newPaymentId } from '@quittance/contracts/payment-reference.ts';
import type { CreationRequest } from '@quittance/contracts/payment.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { TransactAdmitted } from '../admission.ts';
import type { AccessRefresh } from '../limits/refresh-access.ts';
import type { PaymentMessages } from '../payment-messages.ts';
import { type CreationResult, type CreationSuccess, insertPayment, type NewPayment } from '../store/new-payment.ts';
import type { PaymentRow } from '../store/payment.ts';
import { toPayment } from '../views/payment-json.ts';
import { fingerprintsOf } from './fingerprint.ts';
import type { DecideTogether } from './groups.ts';
import { splitAtValues } from './split-at-values.ts';

/** A creation as the gateway validated it. */
export type Creation = CreationRequest & {
  merchant_id: string;
  idempotency_key: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
};

/** Every result but `unknown_merchant`, which is thrown. */
export type CreationOutcome = Exclude<CreationResult, { outcome: 'unknown_merchant' }>;

export type CreationContext = {
  decideTogether: DecideTogether;
  transact: TransactAdmitted;
  messages: PaymentMessages;
  refresh: AccessRefresh;
  ttlSeconds: number;
  walletBinding: boolean;
  publicBaseUrl: string;
};

/**
 * Creates a payment, or answers a repeated request with the first answer's bytes.
 * A refusal that depends on another service's decision is given only after asking that service once, between two transactions:
 * permissions may arrive late, and a merchant that was just activated must not be turned away.
 * @throws ServiceUnavailable or what isUnavailable() recognises when it cannot be decided; then nothing is stored.
 */
export async function createPayment(context: CreationContext, creation: Creation): Promise<CreationOutcome> {
  const asked = new Set<keyof AccessRefresh>();
  for (;;) {
    const result = await attempt(context, creation);
    const owner = ownerOf(result.outcome);
    // Each owner is asked once, so this repeats at most twice.
    if (owner === null || asked.has(owner) || !(await context.refresh[owner](creation.merchant_id))) {
      // The gateway let the merchant in, so quota is only late.
      if (result.outcome === 'unknown_merchant') throw unavailable(new Error('quota does not know the merchant yet'));
      return result;
    }
    asked.add(owner);
  }
}

/** Whose decision the outcome depends on, where a newer version could change it. */
function ownerOf(outcome: CreationResult['outcome']): keyof AccessRefresh | null {
  if (outcome === 'webhook_missing') return 'webhook';
  return (['unknown_merchant', ...creationBlockReasons] as const).some((reason) => reason === outcome)
    ? 'policy'
    : null;
}

/** As `createPayment`, where that succeeds without waiting for a lock or another service. @returns null where it does not: nothing is stored. */
export async function createAtOnce(context: CreationContext, creation: Creation): Promise<CreationSuccess | null> {
  const result = await context.decideTogether(newPayment(context, creation));
  return result?.outcome === 'created' || result?.outcome === 'replayed' ? result : null;
}

/** Together with the creations that wait now; or alone, where it has to wait for a lock. */
async function attempt(context: CreationContext, creation: Creation): Promise<CreationResult> {
  const payment = newPayment(context, creation);
  return (await context.decideTogether(payment)) ?? decideAlone(context, payment);
}

async function decideAlone({ transact, messages }: CreationContext, payment: NewPayment): Promise<CreationResult> {
  const result = await transact(payment.payment.merchant_id, async (tx) => {
    const inserted = await insertPayment(tx, payment);
    if (inserted.outcome !== 'created') return inserted;
    faultPoint('creation-written');
    messages.sendCreatedAfterCommit(tx);
    return inserted;
  });
  faultPoint('creation-committed');
  return result;
}

/** What a creation writes, before anything is decided about it. */
export function newPayment(
  {
    ttlSeconds,
    walletBinding,
    publicBaseUrl,
    messages,
  }: Pick<CreationContext, 'ttlSeconds' | 'walletBinding' | 'publicBaseUrl' | 'messages'>,
  creation: Creation,
): NewPayment {
  // Placeholders: the database decides the timestamps, and an amount that is to be unique, and fills them into the texts.
  const now = new Date();
  const payment: PaymentRow = {
    payment_id: newPaymentId(now),
    merchant_id: creation.merchant_id,
    public_token: newPublicToken(),
    status: 'PENDING',
    network: creation.network,
    recipient: creation.merchant_wallet,
    amount: creation.amount,
    amount_units: creation.amount_units,
    requested_amount: creation.unique_amount === true ? creation.amount : null,
    description: creation.description,
    order_id: creation.order_id ?? null,
    metadata: creation.metadata ?? null,
    return_url: creation.return_url ?? null,
    created_at: now,
    expires_at: now,
    paid_at: null,
    cancelled_at: null,
  };
  const message = messages.composeCreated(payment);
  const decidedThere = [...(creation.unique_amount === true ? ['amount'] : []), 'created_at', 'expires_at'];
  return {
    payment: { ...payment, token_sha256: sha256(payment.public_token) },
    ttlSeconds: creation.expires_in ?? ttlSeconds,
    bindWallet: walletBinding,
    idempotencyKey: creation.idempotency_key,
    ...fingerprintsOf(creation, ttlSeconds),
    reply: splitAtValues(JSON.stringify(toPayment(payment, null, publicBaseUrl)), decidedThere),
    message: { ...message, body: splitAtValues(message.body, decidedThere) },
  };
}
