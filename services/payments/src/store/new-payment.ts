import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import type { NewOutboxRow } from '@quittance/messaging/outbox/store.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { PaymentRow } from './payment.ts';

/** JSON text in the parts between which the values belong that only the database knows; see sql/create_payment.sql. */
export type SplitJson = string[];

/** Two SHA-256 of the validated request: the same values under the same key are a replay, other values a conflict. */
export type Fingerprints = {
  /** Of what the request says. */
  fingerprint: Buffer;
  /** Of the other request that means the same at the present setting; null where there is none. */
  equalFingerprint: Buffer | null;
};

/** Everything a creation writes. The database adds status and timestamps, and chooses the amount where `requested_amount` asks for a unique one. */
export type NewPayment = Fingerprints & {
  payment: Omit<PaymentRow, 'status' | 'created_at' | 'expires_at' | 'paid_at' | 'cancelled_at'> & {
    token_sha256: Buffer;
  };
  ttlSeconds: number;
  /** Whether the wallet has to be, or becomes, this merchant's. */
  bindWallet: boolean;
  idempotencyKey: string;
  reply: SplitJson;
  message: Omit<NewOutboxRow, 'body'> & { body: SplitJson };
};

export type CreationRefusal =
  | CreationBlockReason
  | 'key_conflict'
  | 'webhook_missing'
  | 'wallet_of_another_merchant'
  | 'slot_taken';

/** `body` holds the exact bytes of the 201, the same for every replay. */
export type CreationSuccess = { outcome: 'created' | 'replayed'; body: Buffer };

export type CreationResult = CreationSuccess | { outcome: 'unknown_merchant' } | { outcome: CreationRefusal };

/**
 * Creates the payment, or finds out why not, in one statement that waits for the locks it needs: see sql/create_payment.sql.
 * @throws what isUnavailable() recognises when it cannot be decided.
 */
export async function insertPayment(tx: Transaction, creation: NewPayment): Promise<CreationResult> {
  const { payment, reply, message, reply_parts, message_parts, seconds, bind_wallet } = toRows(creation);
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
    values: [payment, seconds, bind_wallet, reply, reply_parts, message, message_parts],
  });
  const [result] = rows;
  if (result === undefined) throw new Error('create_payment() returned no row');
  return result;
}

/**
 * Decides creations of different merchants in one statement that waits for no gate: see sql/create_payments.sql.
 * @returns in the order of `creations`; null where nothing was decided or written, so that insertPayment() has to.
 * @throws an error that may concern one of them alone; then none is written.
 */
export async function insertPayments(
  tx: Transaction,
  creations: readonly NewPayment[],
): Promise<(CreationResult | null)[]> {
  const merchants = creations.map(({ payment }) => payment.merchant_id);
  const { rows } = await tx.query<{ of_merchant: string } & (CreationResult | { outcome: null })>({
    name: 'create-payments',
    text: 'select of_merchant, outcome, body from create_payments(of_merchants => $1, creations => $2)',
    values: [merchants, JSON.stringify(creations.map(toRows))],
  });
  const results = new Map(rows.map(({ of_merchant: merchant, ...result }) => [merchant, result]));
  return merchants.map((merchant) => {
    const result = results.get(merchant);
    if (result === undefined) throw new Error(`create_payments() returned no row for ${merchant}`);
    return result.outcome === null ? null : result;
  });
}

/** What is a column of the payment, of the reply or of the message has its name: a new one is added to the table and to the object. */
function toRows({ payment, message, reply, ttlSeconds, bindWallet, idempotencyKey, ...fingerprints }: NewPayment) {
  const { fingerprint, equalFingerprint } = fingerprints;
  return {
    payment: { ...payment, amount_units: payment.amount_units.toString(), token_sha256: toBytea(payment.token_sha256) },
    seconds: ttlSeconds,
    bind_wallet: bindWallet,
    reply: {
      merchant_id: payment.merchant_id,
      idempotency_key: idempotencyKey,
      fingerprint: toBytea(fingerprint),
      equal_fingerprint: equalFingerprint && toBytea(equalFingerprint),
    },
    reply_parts: reply,
    message: { ...message, body: null },
    message_parts: message.body,
  };
}

const toBytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;
