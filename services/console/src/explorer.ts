import { parseAddress } from '@quittance/contracts/address.ts';
import type { Network } from '@quittance/contracts/networks.ts';

/** The page of a transaction or an address at the explorer of its network; null where the networks file names none. */
export type Explorer = (network: string, hash: string) => string | null;

export function explorerOf(networks: readonly Network[]): Explorer {
  const known = new Map(networks.map((network) => [network.id, network]));
  return (network, hash) => {
    const { explorer_transaction_url: ofTransactions = null, explorer_address_url: ofAddresses = null } =
      known.get(network) ?? {};
    return parseAddress(hash) === null
      ? (ofTransactions?.replace('{transaction_id}', encodeURIComponent(hash)) ?? null)
      : (ofAddresses?.replace('{address}', encodeURIComponent(hash)) ?? null);
  };
}
