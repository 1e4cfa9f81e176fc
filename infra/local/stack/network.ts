import { readFileSync } from 'node:fs';
import type { Network } from '@quittance/contracts/networks.ts';
import { SOLIDIFIED_BEHIND } from '@quittance/local-backends/tron/answers.ts';
import type { StackChain } from './stack-file.ts';

/** Confirmations on the local chain: the transfer's block and one more. */
const confirmations = 2;

/** Number of blocks that confirm a transfer, including its own. */
export const confirmingBlocks = { local: confirmations, tron: SOLIDIFIED_BEHIND + 1 };

/** The networks file entry of the local chain. */
export function localNetwork(chain: StackChain): Network {
  return {
    id: chain.network,
    // The checkout page shows this name. It must not look like a network with real money.
    name: 'Local test chain',
    family: 'evm',
    chain_id: chain.chain_id,
    rpc_urls: [chain.rpc_url],
    usdt_contract: chain.token,
    decimals: chain.decimals,
    confirmations,
    finality: 'confirmations',
    receipts: 'proven',
    poll_interval_ms: 250,
    // Polling is cheap here, and manual changes of the chain should show immediately.
    asleep_poll_interval_ms: 250,
    explorer_transaction_url: null,
    wallet_chain: { coin: 'ETH', coin_name: 'Test Ether', rpc_url: chain.rpc_url },
    default_evm: true,
  };
}

/** The Tron node in front of the local chain: the shipped Tron entry, except for what identifies the chain. */
export function tronNetwork(tron: StackChain): Network {
  return {
    ...shippedNetwork(tron.network),
    name: 'Local Tron test chain',
    chain_id: tron.chain_id,
    rpc_urls: [tron.rpc_url],
    usdt_contract: tron.token,
    decimals: tron.decimals,
    explorer_transaction_url: null,
  };
}

function shippedNetwork(id: string): Network {
  const shipped = JSON.parse(readFileSync(new URL('../../networks.json', import.meta.url), 'utf8')) as Network[];
  const found = shipped.find((network) => network.id === id);
  if (found === undefined) throw new Error(`infra/networks.json has no ${id}`);
  return found;
}
