import { ReadMerchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import type { Api } from '../api.ts';

/** For a question to a person, who knows merchants by name and mistypes ids. @throws Failure `refused` for an unknown merchant. */
export async function namedMerchant(api: Api, id: string): Promise<string> {
  const { name } = await api.call(ReadMerchant, { params: { merchant_id: id } });
  return `"${name}" (${id})`;
}
