import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import type { NewOutboxRow } from '@quittance/messaging/outbox/store.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { OpenMoments } from '../open-moments.ts';
import type { PaymentRow } from './payment.ts';

/** Everything a creation writes; the two moments are the database's to fill in. */
export type NewPayment = Omit<PaymentRow, 'status' | 'created_at' | 'expires_at' | 'paid_at' | 'cancelled_at'> & {
  token_sha256: Buffer;
  ttlSeconds: number;
  /** Whether the wallet has to be, or becomes, this merchant's. */
  bindWallet: boolean;
  idempotencyKey: string;
  /** SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict. */
  fingerprint: Buffer;
  reply: OpenMoments;
  message: Omit<NewOutboxRow, 'body' | 'merchant_id'> & { body: OpenMoments };
};

export type CreationRefusal =
  CreationBlockReason | 'key_conflict' | 'webhook_missing' | 'wallet_of_another_merchant' | 'slot_taken';

export type CreationResult =
  /** `body` holds the exact bytes of the 201, the same for every replay. */
  { outcome: 'created' | 'replayed'; body: Buffer } | { outcome: 'unknown_merchant' } | { outcome: CreationRefusal };

/**
 * Creates the payment, or finds out why not, in one statement: see migrations/0011_creations_in_their_trace.sql.
 * @throws what isUnavailable() recognises when it cannot be decided.
 */
export async function writeCreation(tx: Transaction, payment: NewPayment): Promise<CreationResult> {
  const { rows } = await tx.query<CreationResult>({
    name: 'create-payment',
    text: `
      select outcome, body
        from create_payment($1, $2, $3, $4, $5, $6, $7, $8, $9, make_interval(secs => $10), $11, $12, $13, $14, $15, $16, $17, $18, $19,
                            $20)`,
    values: [
      payment.payment_id,
      payment.merchant_id,
      payment.public_token,
      payment.token_sha256,
      payment.network,
      payment.recipient,
      payment.amount,
      payment.amount_units,
      payment.description,
      payment.ttlSeconds,
      payment.bindWallet,
      payment.idempotencyKey,
      payment.fingerprint,
      payment.reply,
      payment.message.message_id,
      payment.message.name,
      payment.message.version,
      payment.message.body,
      payment.message.request_id,
      payment.message.traceparent,
    ],
  });
  const [result] = rows;
  if (result === undefined) throw new Error('a function answers one row');
  return result;
}
