import { readFileSync } from 'node:fs';
import type { Network } from '@quittance/contracts/networks.ts';
import { SOLIDIFIED_BEHIND } from '@quittance/local-backends/tron/answers.ts';
import type { StackChain } from './stack-file.ts';

/** Confirmations awaited on the local chain: the block of the transfer and one more. */
const confirmations = 2;

/** How many blocks there are, from the transfer's own on, when the last of them confirms it. */
export const confirmingBlocks = { local: confirmations, tron: SOLIDIFIED_BEHIND + 1 };

/** The networks file entry of the local chain. */
export function localNetwork(chain: StackChain): Network {
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
    poll_interval_ms: 250,
    // It costs little to look at, and what is done to it by hand shall show at once.
    asleep_poll_interval_ms: 250,
    explorer_transaction_url: null,
    default_evm: true,
  };
}

/** That of the Tron in front of it: the shipped entry of Tron, but for what names the chain. */
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
