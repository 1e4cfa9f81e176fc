import type { NoticesChoice } from '@quittance/contracts/http/notifier.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { SealedTable } from '@quittance/postgres/sealed-keys.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { SealedSecret } from '@quittance/runtime/key-vault.ts';

/** `slack` is the sealed URL. */
export type Merchant = {
  merchant_id: string;
  language: string;
  email: string[];
  telegram_chat: string | null;
  slack: SealedSecret | null;
};

type MerchantRow = Omit<Merchant, 'slack'> & { [column in keyof SealedSecret]: SealedSecret[column] | null };

export const slackSecretOf = (merchantId: string): string => `slack_${merchantId}`;

/** @returns null for a merchant that has not chosen notices. */
export async function findMerchant(db: Queryable, merchantId: string): Promise<Merchant | null> {
  const { rows } = await db.query<MerchantRow>(
    `select m.merchant_id, m.language, m.email, m.telegram_chat, s.secret_encrypted, s.encryption_key_id
       from merchant m left join sealed_secret s on s.secret_id = 'slack_' || m.merchant_id
      where m.merchant_id = $1`,
    [merchantId],
  );
  if (rows[0] === undefined) return null;
  const { secret_encrypted, encryption_key_id, ...merchant } = rows[0];
  const hasSlack = secret_encrypted !== null && encryption_key_id !== null;
  return { ...merchant, slack: hasSlack ? { secret_encrypted, encryption_key_id } : null };
}

/** @param slack undefined to keep the stored one, null to remove it. */
export async function saveMerchant(
  tx: Transaction,
  merchantId: string,
  { language, email, telegram_chat }: NoticesChoice,
  { slack, changedBy }: { slack: SealedSecret | null | undefined; changedBy: string },
): Promise<void> {
  await tx.query(
    `insert into merchant (merchant_id, language, email, telegram_chat, changed_by) values ($1, $2, $3, $4, $5)
     on conflict (merchant_id) do update
        set language = excluded.language, email = excluded.email, telegram_chat = excluded.telegram_chat,
            changed_by = excluded.changed_by, changed_at = now()`,
    [merchantId, language, email, telegram_chat, changedBy],
  );
  if (slack !== undefined)
    await tx.query('delete from sealed_secret where secret_id = $1', [slackSecretOf(merchantId)]);
  if (slack) await insertSecret(tx, slackSecretOf(merchantId), merchantId, slack);
}

/** Replaces the signing key of a merchant's webhooks. */
export async function saveKey(tx: Transaction, merchantId: string, keyId: string, sealed: SealedSecret): Promise<void> {
  await tx.query(
    `with old as (select key_id from merchant where merchant_id = $1 for update)
     delete from sealed_secret s using old where s.secret_id = old.key_id`,
    [merchantId],
  );
  await insertSecret(tx, keyId, merchantId, sealed);
  await tx.query('update merchant set key_id = $2 where merchant_id = $1', [merchantId, keyId]);
}

async function insertSecret(tx: Transaction, id: string, merchantId: string, sealed: SealedSecret): Promise<void> {
  await tx.query(
    'insert into sealed_secret (secret_id, merchant_id, secret_encrypted, encryption_key_id) values ($1, $2, $3, $4)',
    [id, merchantId, sealed.secret_encrypted, sealed.encryption_key_id],
  );
}

/** The signing key of a merchant's webhooks. @returns null for a merchant that has not chosen notices. */
export async function findKey(db: Queryable, merchantId: string): Promise<({ key_id: string } & SealedSecret) | null> {
  const { rows } = await db.query<{ key_id: string } & SealedSecret>(
    `select m.key_id, s.secret_encrypted, s.encryption_key_id
       from merchant m join sealed_secret s on s.secret_id = m.key_id where m.merchant_id = $1`,
    [merchantId],
  );
  return rows[0] ?? null;
}

/** @returns false if a person tested within the last minute, or the merchant has not chosen notices. */
export async function beginTest(db: Queryable, merchantId: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update merchant set tested_at = now()
      where merchant_id = $1 and (tested_at is null or tested_at < now() - interval '1 minute')`,
    [merchantId],
  );
  return rowCount === 1;
}

export const sealedSecrets: SealedTable = {
  table: 'sealed_secret',
  id: 'secret_id',
  secret: 'secret_encrypted',
  where: 'true',
};
