import { parseAddress } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { TestChain } from '../chain.ts';

/** Numbers as well-formed hashes and addresses, so that a test can say "block 7". */
export const hashOf = (number: number): string => `0x${number.toString(16).padStart(64, '0')}`;
export const addressOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`;

/** A wallet that no other test uses. */
export function newWallet(): string {
  const hex = newId('pay').slice(-32);
  const wallet = parseAddress(`0x${hex}${hex.slice(-8)}`);
  if (wallet === null) throw new Error(`${hex} makes no address`);
  return wallet.address;
}

export type NetworksFileOptions = {
  chain: Pick<TestChain, 'rpcUrl' | 'chainId' | 'token' | 'decimals'>;
  /** Used instead of the chain's own URL. */
  rpcUrls?: string[];
  confirmations?: number;
  finality?: 'confirmations' | 'finalized';
  /** Any other fields of the networks file's entry. */
  entry?: Partial<Network>;
};

/** The networks file of a test chain. */
export function networksOf(options: NetworksFileOptions) {
  const { chain, confirmations = 2, finality = 'confirmations' } = options;
  return [
    {
      id: 'local',
      family: 'evm',
      chain_id: chain.chainId,
      rpc_urls: options.rpcUrls ?? [chain.rpcUrl],
      usdt_contract: chain.token,
      decimals: chain.decimals,
      confirmations,
      finality,
      poll_interval_ms: 25,
      asleep_poll_interval_ms: 25,
      explorer_transaction_url: null,
      default_evm: true,
      ...options.entry,
    },
  ];
}
