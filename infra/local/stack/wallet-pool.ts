import { HDNodeWallet } from 'ethers';
import { callJson } from './call-json.ts';

/**
 * Makes a pool on the local chain, with the addresses of a new account, unless the merchant has one of this name. Its private keys are kept
 * nowhere: test money is not spent again.
 */
export async function ensurePool(gatewayUrl: string, { api_key }: { api_key: string }, name: string): Promise<void> {
  const url = `${gatewayUrl}/api/v1/merchant/wallet-pools`;
  const headers = { 'X-API-Key': api_key };
  const { pools } = await callJson<{ pools: { name: string }[] }>(url, 'GET', headers);
  if (pools.some((pool) => pool.name === name)) return;
  const account = HDNodeWallet.createRandom('', "m/44'/60'/0'");
  await callJson(`${url}/${name}`, 'PUT', headers, {
    network: 'local',
    xpub: account.neuter().extendedKey,
    expect_first_address: account.derivePath('0/0').address,
  });
}
