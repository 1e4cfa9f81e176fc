import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import type { NewOutboxRow } from '@quittance/messaging/outbox/store.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from './payment.ts';

/** JSON text in the parts between which the values belong that only the database knows; see sql/create_payment.sql. */
export type SplitJson = string[];

/** Everything a creation writes. The database adds status and timestamps, and chooses the amount where `requested_amount` asks for a unique one. */
export type NewPayment = {
  payment: Omit<PaymentRow, 'status' | 'created_at' | 'expires_at' | 'paid_at' | 'cancelled_at'> & {
    token_sha256: Buffer;
  };
  ttlSeconds: number;
  /** Whether the wallet has to be, or becomes, this merchant's. */
  bindWallet: boolean;
  idempotencyKey: string;
  /** SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict. */
  fingerprint: Buffer;
  reply: SplitJson;
  message: Omit<NewOutboxRow, 'body'> & { body: SplitJson };
};

export type CreationRefusal =
  CreationBlockReason | 'key_conflict' | 'webhook_missing' | 'wallet_of_another_merchant' | 'slot_taken';

export type CreationResult =
  /** `body` holds the exact bytes of the 201, the same for every replay. */
  { outcome: 'created' | 'replayed'; body: Buffer } | { outcome: 'unknown_merchant' } | { outcome: CreationRefusal };

/**
 * Creates the payment, or finds out why not, in one statement: see sql/create_payment.sql. What is a column of the payment, of the
 * reply or of the message crosses under its own name, so a new column is added to the table and here to the object.
 * @throws what isUnavailable() recognises when it cannot be decided.
 */
export async function insertPayment(tx: Transaction, creation: NewPayment): Promise<CreationResult> {
  const { payment, message, reply, ttlSeconds, bindWallet, idempotencyKey, fingerprint } = creation;
  const { rows } = await tx.query<CreationResult>({
    name: 'create-payment',
    text: `
      select outcome, body
        from create_payment(
          new_payment => jsonb_populate_record(null::payment, $1),
          time_to_live => make_interval(secs => $2),
          bind_wallet => $3,
          new_reply => jsonb_populate_record(null::idempotent_reply, $4),
          reply_parts => $5,
          new_message => jsonb_populate_record(null::outbox, $6),
          message_parts => $7)`,
    values: [
      { ...payment, amount_units: payment.amount_units.toString(), token_sha256: toBytea(payment.token_sha256) },
      ttlSeconds,
      bindWallet,
      { merchant_id: payment.merchant_id, idempotency_key: idempotencyKey, fingerprint: toBytea(fingerprint) },
      reply,
      { ...message, body: null },
      message.body,
    ],
  });
  const [result] = rows;
  if (result === undefined) throw new Error('create_payment() returned no row');
  return result;
}

const toBytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;
