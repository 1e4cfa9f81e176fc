import { HDNodeWallet } from 'ethers/wallet';
import { deriveAddresses, parseExtendedKey } from '@quittance/contracts/extended-key.ts';
import type { WalletPool } from '@quittance/contracts/http/payments/pools.ts';
import { network, type PaymentsUnderTest } from './service.ts';

/** A new account of a wallet: its keys, and its first addresses. */
export function newAccount() {
  const account = HDNodeWallet.createRandom('', `m/44'/60'/0'`);
  const xpub = account.neuter().extendedKey;
  const addresses = (count: number, from = 0) => deriveAddresses(parseExtendedKey(xpub).key!, 'evm', { from, count });
  return { xpub, xprv: account.extendedKey, addresses };
}

export type Account = ReturnType<typeof newAccount>;

/** Changes a merchant's pools, and reads them. */
export const poolsOf = (payments: PaymentsUnderTest, merchantId: string) => {
  const path = `/merchants/${merchantId}/wallet-pools`;
  const put = (name: string, body: object) => payments.call<WalletPool>('PUT', `${path}/${name}`, { network, ...body });
  return {
    put,
    putList: (name: string, addresses: string[], more: object = {}) => put(name, { addresses, append: false, ...more }),
    putKey: (name: string, { xpub, addresses }: Account, more: object = {}) =>
      put(name, { xpub, expect_first_address: addresses(1)[0], ...more }),
    read: (name: string) => payments.call<WalletPool>('GET', `${path}/${name}`),
    list: async () => (await payments.call<{ pools: WalletPool[] }>('GET', path)).json.pools,
  };
};
