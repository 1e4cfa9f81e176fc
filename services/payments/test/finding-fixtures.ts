import { randomBytes } from 'node:crypto';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { Price } from '@quittance/contracts/rates.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { newWallet } from './fixtures.ts';

/** A payment as it could have become over months; other fields have defaults. */
export type PastPayment = {
  payment_id: string;
  merchant_id: string;
  public_token: string;
  status: PaymentStatus;
  network: string;
  recipient: string;
  amount_units: number;
  description: string;
  created_at: Date;
  expires_at: Date;
  paid_at: Date | null;
  cancelled_at: Date | null;
  order_id: string | null;
  metadata: Record<string, string> | null;
  price: Price | null;
};

export function pastPayment(more: Pick<PastPayment, 'merchant_id' | 'created_at'> & Partial<PastPayment>): PastPayment {
  const { created_at: made, status = 'PENDING' } = more;
  return {
    payment_id: newId('pay', made),
    public_token: newPublicToken(),
    status,
    network: 'local',
    recipient: newWallet(),
    amount_units: 10_500_000,
    description: 'Two tickets',
    expires_at: new Date(made.getTime() + 1_800_000),
    paid_at: status === 'PAID' ? made : null,
    cancelled_at: status === 'CANCELLED' ? made : null,
    order_id: null,
    metadata: null,
    price: null,
    ...more,
  };
}

/** A transfer in the ledger; if it does not pay by its amount, somebody accepted it. */
export type PastTransfer = {
  payment: PastPayment;
  transaction_id: string;
  amount_units: string;
  decimals: number;
  accepted: boolean;
  /** Of its block; by default the payment's creation. */
  block_timestamp?: Date;
};

/** The transfer that paid a payment: exactly its amount, or a little more when it was accepted. */
export function transferOf(payment: PastPayment, accepted: boolean, decimals: number): PastTransfer {
  const exact = BigInt(payment.amount_units) * 10n ** BigInt(decimals - 6);
  const amount_units = String(accepted ? exact + BigInt(Math.floor(Math.random() * 1e6)) : exact);
  return { payment, transaction_id: randomBytes(32).toString('hex'), amount_units, decimals, accepted };
}

export async function insertPast(
  db: Queryable,
  payments: readonly PastPayment[],
  transfers: readonly PastTransfer[] = [],
): Promise<void> {
  const rows = payments.map((payment) => ({
    ...payment,
    token_sha256: `\\x${sha256(payment.public_token).toString('hex')}`,
    amount: String(payment.amount_units / 1e6),
    expiry_check_at: payment.expires_at,
  }));
  await db.query('insert into payment select * from jsonb_populate_recordset(null::payment, $1)', [
    JSON.stringify(rows),
  ]);
  const common = { transaction_event_index: 0, block_number: 1, block_hash: 'b', confirmations: 2 };
  const ledger = transfers.map(
    ({ payment, accepted: _, block_timestamp: mined = payment.created_at, ...transfer }) => ({
      ...{
        ...common,
        ...transfer,
        payment_id: payment.payment_id,
        network: payment.network,
        version: 1,
        phase: 'confirmed',
      },
      ...{
        merchant_id: payment.merchant_id,
        block_timestamp: mined,
        sender: 's',
        recipient: payment.recipient,
      },
      ...{ confirmations_required: 2, observed_at: payment.created_at },
    }),
  );
  const columns = Object.keys(ledger[0] ?? {}).join(', ');
  if (columns !== '')
    await db.query(
      `insert into transfer (${columns}) select ${columns} from jsonb_populate_recordset(null::transfer, $1)`,
      [JSON.stringify(ledger)],
    );
  for (const { payment, transaction_id, amount_units, decimals, ...one } of transfers.filter(
    ({ accepted }) => accepted,
  )) {
    await db.query(
      `insert into transfer_acceptance (payment_id, merchant_id, status_before, network, transaction_id, transaction_event_index, recipient,
              amount_units, decimals, block_number, block_hash, block_timestamp, confirmations, actor, reason, accepted_at)
       values ($1, $2, 'EXPIRED', $3, $4, 0, $5, $6, $7, 1, 'b', $8, 2, 'olga', 'agreed', $9)`,
      [
        ...[payment.payment_id, payment.merchant_id, payment.network, transaction_id, payment.recipient, amount_units],
        ...[decimals, one.block_timestamp ?? payment.created_at, payment.paid_at],
      ],
    );
  }
}
