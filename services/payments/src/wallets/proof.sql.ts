import type { Author } from '@quittance/contracts/author.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { statusesBefore } from '../payment/state.ts';
import { isChosenSql } from '../gate/gate.sql.ts';
import { isUnfinishedSql, type MovedPayment, paymentColumns } from '../payment/payment.sql.ts';

export type Challenge = { merchant_id: string; nonce: string; ends_at: Date; is_over: boolean };

const challengeColumns = 'merchant_id, nonce, ends_at, ends_at <= clock_timestamp() as is_over';

/**
 * Opens a challenge that replaces the merchant's earlier one for this wallet. It ends after 24 hours.
 * @returns null for a merchant whose policy has not arrived.
 */
export async function openChallenge(
  db: Queryable,
  { address, merchantId, nonce }: { address: string; merchantId: string; nonce: string },
): Promise<Challenge | null> {
  const { rows } = await db.query<Challenge>(
    `insert into wallet_challenge (address, merchant_id, nonce, ends_at)
     select $1, merchant_id, $3, date_trunc('second', clock_timestamp()) + interval '24 hours'
       from gate where merchant_id = $2 and policy_version > 0
     on conflict (address, merchant_id) do update set nonce = excluded.nonce, ends_at = excluded.ends_at
     returning ${challengeColumns}`,
    [address, merchantId, nonce],
  );
  return rows[0] ?? null;
}

/** All open challenges of a wallet, so that when two merchants prove it at once the second finds none. */
export async function lockChallenges(tx: Transaction, address: string): Promise<Challenge[]> {
  const { rows } = await tx.query<Challenge>(
    `select ${challengeColumns} from wallet_challenge where address = $1 order by merchant_id for update`,
    [address],
  );
  return rows;
}

export async function deleteChallenges(tx: Transaction, address: string): Promise<void> {
  await tx.query('delete from wallet_challenge where address = $1', [address]);
}

/** @returns the owner of the wallet, which stays locked; a wallet without an owner becomes this merchant's. */
export async function lockOwner(tx: Transaction, address: string, merchantId: string): Promise<string> {
  const { rows } = await tx.query<{ merchant_id: string }>(
    `insert into wallet (address, merchant_id, bound_at) values ($1, $2, clock_timestamp())
     on conflict (address) do update set address = excluded.address returning merchant_id`,
    [address, merchantId],
  );
  if (rows[0] === undefined) throw new Error(`wallet ${address} was neither found nor bound`);
  return rows[0].merchant_id;
}

/** Waits for the merchant's running creations; later ones see what this transaction has written. */
export async function lockGate(tx: Transaction, merchantId: string): Promise<void> {
  await tx.query('select from gate where merchant_id = $1 for update', [merchantId]);
}

/** @returns when the wallet was proven. `bound_at` does not change if the wallet was this merchant's already. */
export async function markProven(tx: Transaction, address: string, merchantId: string): Promise<Date> {
  const { rows } = await tx.query<{ proven_at: Date }>(
    `update wallet
        set merchant_id = $2, proven_at = moment, bound_at = case when merchant_id = $2 then bound_at else moment end
       from date_trunc('milliseconds', clock_timestamp()) as moment
      where address = $1 returning proven_at`,
    [address, merchantId],
  );
  if (rows[0] === undefined) throw new Error(`wallet ${address} is not locked`);
  return rows[0].proven_at;
}

/** Cancels other merchants' PENDING payments on a wallet. CHECKING ones stay: the transfer that is about to pay one came before. */
export async function cancelOthersOnWallet(
  tx: Transaction,
  wallet: { address: string; merchantId: string; networks: readonly string[] },
  at: Date,
): Promise<MovedPayment[]> {
  const { rows } = await tx.query<MovedPayment>(
    `update payment set status = 'CANCELLED', cancelled_at = greatest(created_at, $4)
      where network = any($1) and recipient = $2 and merchant_id <> $3 and ${isUnfinishedSql} and status = any($5)
      returning ${paymentColumns}, ${isChosenSql('CANCELLED')} as is_chosen`,
    [wallet.networks, wallet.address, wallet.merchantId, at, statusesBefore('CANCELLED')],
  );
  return rows;
}

/** A row of `wallet_proof`. */
export type Proof = Author & {
  address: string;
  merchant_id: string;
  taken_from: string | null;
  cancelled_payments: number;
  signed_text: string;
  signature: string;
  proven_at: Date;
};

export async function insertProof(tx: Transaction, proof: Proof): Promise<void> {
  await tx.query(
    `insert into wallet_proof (address, merchant_id, taken_from, cancelled_payments, signed_text, signature, actor, reason, proven_at)
     select address, merchant_id, taken_from, cancelled_payments, signed_text, signature, actor, reason, proven_at
       from jsonb_populate_record(null::wallet_proof, $1)`,
    [proof],
  );
}

const PROOFS_MAX = 100;

/** The proofs of a wallet, newest first, at most a hundred. */
export async function findProofs(db: Queryable, address: string): Promise<Proof[]> {
  const { rows } = await db.query<Proof>(
    `select address, merchant_id, taken_from, cancelled_payments, signed_text, signature, actor, reason, proven_at
       from wallet_proof where address = $1 order by proven_at desc limit ${PROOFS_MAX}`,
    [address],
  );
  return rows;
}

/** The wallets that a merchant has proven and still owns, at most a hundred. */
export async function findProvenWallets(db: Queryable, merchantId: string): Promise<string[]> {
  const { rows } = await db.query<{ address: string }>(
    `select address from wallet where merchant_id = $1 and proven_at is not null
        and address in (select address from wallet_proof where merchant_id = $1)
      order by address limit ${PROOFS_MAX}`,
    [merchantId],
  );
  return rows.map(({ address }) => address);
}
