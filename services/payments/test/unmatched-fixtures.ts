import { randomBytes } from 'node:crypto';
import type { Pool } from '@quittance/postgres/pool.ts';
import { newWallet } from './fixtures.ts';

/** An unmatched transfer; other fields have defaults. */
export type PastUnmatched = {
  transaction_id: string;
  transaction_event_index: number;
  merchant_id: string;
  recipient: string;
  phase: 'seen' | 'confirmed' | 'retracted';
  amount_units: string;
  block_timestamp: Date;
  related_payment_id: string | null;
  reason: string | null;
};

export const pastUnmatched = (
  more: Pick<PastUnmatched, 'merchant_id' | 'block_timestamp'> & Partial<PastUnmatched>,
): PastUnmatched => ({
  transaction_id: randomBytes(32).toString('hex'),
  transaction_event_index: 0,
  recipient: newWallet(),
  phase: 'confirmed',
  amount_units: '1000000',
  related_payment_id: null,
  reason: null,
  ...more,
});

export async function insertUnmatched(db: Pool, transfers: readonly PastUnmatched[]): Promise<void> {
  const common = { network: 'local', version: 1, block_number: 1, block_hash: 'b', sender: 's', decimals: 6 };
  const rows = transfers.map((transfer) => ({
    ...{ ...common, ...transfer, confirmations: 2, confirmations_required: 2, observed_at: transfer.block_timestamp },
  }));
  const columns = Object.keys(rows[0] ?? {}).join(', ');
  await db.query(
    `insert into transfer (${columns}) select ${columns} from jsonb_populate_recordset(null::transfer, $1)`,
    [JSON.stringify(rows)],
  );
}
