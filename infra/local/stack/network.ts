import type { Network } from '@quittance/contracts/networks.ts';
import type { StackFile } from './stack-file.ts';

/** Confirmations awaited on the local chain: the block of the transfer and one more. */
export const confirmations = 2;

/** The networks file entry of the local chain. */
export function localNetwork(chain: StackFile['chain']): Network {
  return {
    id: chain.network,
    // Shown on the checkout page, where nobody shall take it for a network on which money is worth something.
    name: 'Local test chain',
    family: 'evm',
    chain_id: chain.chain_id,
    rpc_urls: [chain.rpc_url],
    usdt_contract: chain.token,
    decimals: chain.decimals,
    confirmations,
    finality: 'confirmations',
    poll_interval_ms: 100,
    explorer_transaction_url: null,
    default_evm: true,
  };
}
