import type { Transaction } from '@quittance/postgres/transaction.ts';
import { paymentColumns, paymentColumnTypes, type PaymentRow } from './payment.sql.ts';

/** What a creation needs from the database. */
export type Question = {
  merchant_id: string;
  idempotency_key: string;
  /** Null when the name of a `pool` stands for them. */
  network: string | null;
  recipient: string | null;
  pool: string | null;
  /** Millionths of a USDT: the amount itself, or the price that a unique amount is near. */
  amount_units: bigint;
  is_unique: boolean;
  is_dedicated: boolean;
  /** Whether to choose an amount and lock its price. True only while the merchant's gate is locked. */
  needs_amount: boolean;
};

/** The first reply to an Idempotency-Key: the exact bytes of the 201, and the fingerprints of the request. */
export type SavedReply = { fingerprint: Buffer; equal_fingerprint: Buffer | null; body: Buffer };

/** What the database knows about one creation. */
export type Facts = {
  /** The database's time in whole milliseconds. */
  clock: Date;
  /** The network and the address: as the creation names them, or its pool's. The address is null when the pool has none free. */
  network: string | null;
  recipient: string | null;
  /** How long the address rests after the payment; null for a payment that shares its address. */
  rest_seconds: number | null;
  derivation_index: number | null;
  /** Where the pool's addresses come from; null without a pool, and for one that does not exist. */
  source_id: bigint | null;
  /** Whether the pool's addresses come from an extended key. */
  is_derived: boolean;
  /** Whether other payments keep this one from the address. */
  is_used: boolean;
  /** When the newest payment of this slot was created, if that is not before `clock`. */
  newest_at: Date | null;
  /** The merchant whose wallet it is, or null. */
  owner: string | null;
  /** Whether the owner has proven that it holds the wallet's key. */
  is_proven: boolean;
  /** Null when no amount is needed or none is free; 0 while another creation holds the price or the address. */
  free_units: bigint | null;
  reply: SavedReply | null;
};

/**
 * @param bindsWallets whether a wallet belongs to the first merchant that uses it.
 * @returns the facts by merchant, one question for each: see sql/creation_facts.sql.
 */
export async function readFacts(
  tx: Transaction,
  questions: readonly Question[],
  bindsWallets: boolean,
): Promise<Map<string, Facts>> {
  type Row = Omit<Facts, 'reply' | 'network'> &
    Omit<SavedReply, 'body'> & { of_merchant: string; on_network: string | null; body: Buffer | null };
  const { rows } = await tx.query<Row>({
    name: 'creation-facts',
    text: 'select * from creation_facts($1, $2)',
    values: [JSON.stringify(questions, bigintsAsText), bindsWallets],
  });
  return new Map(
    rows.map(({ of_merchant: merchant, on_network: network, body, fingerprint, equal_fingerprint, ...facts }) => [
      merchant,
      { ...facts, network, reply: body === null ? null : { body, fingerprint, equal_fingerprint } },
    ]),
  );
}

/**
 * Waits until no other creation is taking this address or choosing an amount of this price. Call it only while holding the merchant's gate,
 * so that no two transactions deadlock.
 */
export async function lockPrice(
  tx: Transaction,
  { network, recipient, amount_units, is_unique, is_dedicated }: Question,
): Promise<void> {
  const lock = (isAlone: boolean) => (isAlone ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared');
  await tx.query(`select ${lock(is_dedicated)}(address_lock($1, $2))`, [network, recipient]);
  if (!is_dedicated)
    await tx.query(`select ${lock(is_unique)}(price_lock($1, $2, $3))`, [network, recipient, amount_units]);
}

/** Everything one creation writes, except its message. */
export type NewPayment = {
  payment: PaymentRow;
  token_sha256: Buffer;
  /** Whether the wallet becomes this merchant's. */
  binds_wallet: boolean;
  idempotency_key: string;
  /** The exact text of the 201. */
  reply: string;
  /** SHA-256 of what the request says: the same values under the same key are a replay, other values a conflict. */
  fingerprint: Buffer;
  /** Of the other form of the request that means the same with the current settings; null when there is none. */
  equal_fingerprint: Buffer | null;
};

const newColumnTypes = {
  ...paymentColumnTypes,
  token_sha256: 'bytea',
  binds_wallet: 'boolean',
  idempotency_key: 'text',
  fingerprint: 'bytea',
  equal_fingerprint: 'bytea',
  reply: 'text',
};
const newColumns = Object.entries(newColumnTypes).map(([name, type]) => `${name} ${type}`);

const insertText = `
  with new as materialized (
    select * from jsonb_to_recordset($1) as new (${newColumns.join(', ')})
  ), inserted as (
    insert into payment (${paymentColumns}, token_sha256, expiry_check_at)
    select ${paymentColumns}, token_sha256, expires_at from new
    on conflict do nothing
    returning payment_id
  ), done as materialized (
    select new.* from new join inserted using (payment_id)
  ), bound as (
    insert into wallet (address, merchant_id, bound_at) select recipient, merchant_id, created_at from done where binds_wallet
  ), counted as (
    update gate
       set used_lifetime = used_lifetime + 1,
           used_day = (created_at at time zone 'UTC')::date,
           used_today = case when used_day = (created_at at time zone 'UTC')::date then used_today + 1 else 1 end
      from done where gate.merchant_id = done.merchant_id
  ), replied as (
    insert into idempotent_reply (merchant_id, idempotency_key, created_at, fingerprint, equal_fingerprint, body)
    select merchant_id, idempotency_key, created_at, fingerprint, equal_fingerprint, convert_to(reply, 'UTF8') from done
  )
  select payment_id from done`;

/**
 * Writes payments of different merchants, each with its reply, its count at the gate and its wallet's owner.
 * @returns the ids of the payments that were written: one whose slot or address was taken in the meantime is not.
 * @throws unique_violation of `wallet_pkey` when another merchant took one of the wallets in the meantime; then none is written.
 */
export async function insertPayments(tx: Transaction, payments: readonly NewPayment[]): Promise<Set<string>> {
  const rows = payments.map(({ payment, ...others }) => ({ ...payment, ...others, ...bytesAsText(others) }));
  const { rows: written } = await tx.query<{ payment_id: string }>({
    name: 'insert-payments',
    text: insertText,
    values: [JSON.stringify(rows, bigintsAsText)],
  });
  return new Set(written.map(({ payment_id: id }) => id));
}

/** Whether insertPayments() failed because another merchant took a wallet. */
export const isWalletTaken = (error: unknown): boolean =>
  (error as { constraint?: string }).constraint === 'wallet_pkey';

const bytesAsText = ({ token_sha256: token, fingerprint, equal_fingerprint: equal }: Omit<NewPayment, 'payment'>) => ({
  token_sha256: bytea(token),
  fingerprint: bytea(fingerprint),
  equal_fingerprint: equal && bytea(equal),
});

const bytea = (bytes: Buffer): string => `\\x${bytes.toString('hex')}`;

const bigintsAsText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);
