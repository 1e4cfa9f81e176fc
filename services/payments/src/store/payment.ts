import type { PaymentStatus } from '@quittance/contracts/payment.ts';
import { isUniqueViolation } from '@quittance/postgres/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../state.ts';
import { replyColumns, type ReplyColumns, type SavedReply, toReply } from './reply.ts';

/** A row of `payment`, without what only indexes and loops look at. */
export type PaymentRow = {
  payment_id: string;
  merchant_id: string;
  public_token: string;
  status: PaymentStatus;
  network: string;
  /** Canonical address. */
  recipient: string;
  amount: string;
  /** Millionths of a USDT. */
  amount_units: bigint;
  description: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  cancelled_at: Date | null;
};

/** Only one unfinished payment may wait for an amount on an address. */
export type Slot = { network: string; recipient: string; amountUnits: bigint };

export const paymentColumns = `payment_id, merchant_id, public_token, status, network, recipient, amount, amount_units, description,
  created_at, expires_at, paid_at, cancelled_at`;

/**
 * Reads what a creation is decided by, besides the gate, whose lock must be held: only then are the clock and the reply certain,
 * because whoever held the lock before may just have answered the same key.
 */
export async function readCreationFacts(
  tx: Transaction,
  request: { merchantId: string; idempotencyKey: string } & Slot,
): Promise<{ now: Date; reply: SavedReply | null; walletOwner: string | null; slotTaken: boolean }> {
  const { rows } = await tx.query<{ now: Date; wallet_owner: string | null; slot_taken: boolean } & ReplyColumns>({
    name: 'read-creation-facts',
    text: `
      select date_trunc('milliseconds', clock_timestamp()) as now, ${replyColumns},
             (select merchant_id from wallet where address = $3) as wallet_owner,
             exists (select from payment where network = $4 and recipient = $3 and amount_units = $5
                                           and status in ('PENDING', 'CHECKING')) as slot_taken
        from (select) one
        left join idempotent_reply r
          on r.merchant_id = $1 and r.idempotency_key = $2 and r.created_at > now() - interval '30 days'`,
    values: [request.merchantId, request.idempotencyKey, request.recipient, request.network, request.amountUnits],
  });
  const row = rows[0];
  if (row === undefined) throw new Error('a select without from answers one row');
  return { now: row.now, reply: toReply(row), walletOwner: row.wallet_owner, slotTaken: row.slot_taken };
}

export type NewPayment = PaymentRow & {
  tokenSha256: Buffer;
  idempotencyKey: string;
  reply: SavedReply;
  /** Binds the wallet to this merchant; for a wallet that nobody owned when the facts were read. */
  bindWallet: boolean;
};

/**
 * Writes everything a creation leaves behind, in one statement: the payment, one more on both counters, the reply's bytes and the
 * wallet's owner. The gate's lock must be held. After any outcome but 'created' the transaction must be rolled back.
 */
export async function insertPayment(
  tx: Transaction,
  payment: NewPayment,
): Promise<'created' | 'slot_taken' | 'wallet_of_another_merchant'> {
  try {
    const values = [
      payment.payment_id,
      payment.merchant_id,
      payment.public_token,
      payment.tokenSha256,
      payment.network,
      payment.recipient,
      payment.amount,
      payment.amount_units,
      payment.description,
      payment.created_at,
      payment.expires_at,
      payment.idempotencyKey,
      payment.reply.fingerprint,
      payment.reply.body,
      payment.bindWallet,
    ];
    const { rows } = await tx.query<{ wallets_bound: bigint }>({
      name: 'insert-creation',
      text: insertCreation,
      values,
    });
    // One merchant's creations wait for each other at its gate, so whoever bound the wallet meanwhile is another merchant.
    return payment.bindWallet && rows[0]?.wallets_bound !== 1n ? 'wallet_of_another_merchant' : 'created';
  } catch (error) {
    if (isUniqueViolation(error, 'payment_slot')) return 'slot_taken';
    throw error;
  }
}

const insertCreation = `
  with bound as (
    insert into wallet (address, merchant_id, bound_at) select $6::text, $2::text, $10::timestamptz where $15
    on conflict (address) do nothing
    returning 1
  ), counted as (
    update gate
       set used_lifetime = used_lifetime + 1,
           used_day = today.day,
           used_today = case when used_day = today.day then used_today + 1 else 1 end
      from (select ($10::timestamptz at time zone 'UTC')::date as day) today
     where merchant_id = $2
  ), created as (
    insert into payment (payment_id, merchant_id, public_token, token_sha256, network, recipient, amount, amount_units, description,
                         created_at, expires_at, expiry_check_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11)
  ), saved as (
    insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, body) values ($2, $12, $10, $13, $14)
  )
  select count(*) as wallets_bound from bound`;

/**
 * Cancels a payment of this merchant that still waits. The status guard lets one of a racing cancel and transfer win.
 * @returns null when it is another merchant's, unknown, or no longer PENDING.
 */
export async function cancelPayment(db: Queryable, merchantId: string, paymentId: string): Promise<PaymentRow | null> {
  const { rows } = await db.query<PaymentRow>(
    `update payment set status = 'CANCELLED', cancelled_at = date_trunc('milliseconds', clock_timestamp())
      where payment_id = $1 and merchant_id = $2 and status = any($3)
      returning ${paymentColumns}`,
    [paymentId, merchantId, statusesBefore('CANCELLED')],
  );
  return rows[0] ?? null;
}

/**
 * Moves a payment on, if its status still allows it.
 * @returns the moved payment, or null when a race was lost.
 */
export async function movePayment(
  tx: Transaction,
  paymentId: string,
  to: 'PENDING' | 'CHECKING' | 'PAID',
): Promise<PaymentRow | null> {
  const { rows } = await tx.query<PaymentRow>(
    `update payment
        set status = $2, paid_at = case when $2 = 'PAID' then date_trunc('milliseconds', clock_timestamp()) end
      where payment_id = $1 and status = any($3)
      returning ${paymentColumns}`,
    [paymentId, to, statusesBefore(to)],
  );
  return rows[0] ?? null;
}
