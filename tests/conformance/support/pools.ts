import { HDNodeWallet } from 'ethers/wallet';
import type { WalletPool } from '@quittance/contracts/http/payments/pools.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import type { HttpAnswer } from '../../support/http.ts';
import type { Merchant } from '../../support/merchant.ts';

export const POOLS = '/api/v1/merchant/wallet-pools';

/** A new account of a wallet, by a library that is not ours. */
export function newAccount(level = `m/44'/60'/0'`) {
  const account = HDNodeWallet.createRandom('', level);
  const external = account.deriveChild(0);
  const addresses = [0, 1, 2].map((index) => external.deriveChild(index).address);
  return { xpub: account.neuter().extendedKey, xprv: account.extendedKey, addresses };
}

export const newWallets = (count: number): string[] => Array.from({ length: count }, newWallet);

export const readPool = async (merchant: Merchant, name = 'shop'): Promise<WalletPool> =>
  (await merchant.call('GET', `${POOLS}/${name}`)).json<WalletPool>();

/** Makes the merchant's pool on the stack's network. @throws unless it succeeds. */
export async function makePool(
  merchant: Merchant,
  body: { network: string } & Record<string, unknown>,
  name = 'shop',
): Promise<void> {
  const answer = await merchant.call('PUT', `${POOLS}/${name}`, { body });
  if (answer.status !== 200) throw new Error(`the pool was answered ${answer.status} ${answer.text}`);
}

/** The fields of a creation that take an address of that pool. */
export const fromPool = (name = 'shop') => ({ merchant_wallet: undefined, wallet_pool: name });

export const release = (merchant: Merchant, address: string): Promise<HttpAnswer> =>
  merchant.call('DELETE', `/api/v1/merchant/wallet-rests/${address}`);

export const cancel = (merchant: Merchant, { payment_id: id }: { payment_id: string }): Promise<HttpAnswer> =>
  merchant.call('POST', `/api/v1/payments/${id}/cancel`);
