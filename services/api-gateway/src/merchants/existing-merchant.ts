import { isId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { findMerchant, type MerchantRow } from './merchant.sql.ts';

export const merchantNotFound = (): HttpError => new HttpError(404, 'Merchant not found');

/** @throws HttpError 404 for a malformed id. */
export function merchantIdOf({ params: { merchant_id: merchantId } }: { params: { merchant_id: string } }): string {
  if (!isId('mer', merchantId)) throw merchantNotFound();
  return merchantId;
}

/** @throws HttpError 404 for an unknown merchant. */
export async function existingMerchant(db: Queryable, merchantId: string): Promise<MerchantRow> {
  const merchant = await findMerchant(db, merchantId);
  if (merchant === null) throw merchantNotFound();
  return merchant;
}
