import { CHAIN_ID, TOKEN } from './synthetic-chain.ts';

export const NETWORK = 'synthetic';

/** Blocks of one request: on a busy chain, their events are the most that providers return. */
export const RANGE = 50;

/** The networks file of a service that scans the synthetic chain. */
export const networksFile = ({ url, pollIntervalMs = 1_000 }: { url: string; pollIntervalMs?: number }) => [
  {
    id: NETWORK,
    family: 'evm',
    chain_id: CHAIN_ID,
    rpc_urls: [url],
    usdt_contract: TOKEN,
    decimals: 6,
    confirmations: 12,
    finality: 'confirmations',
    max_block_range: RANGE,
    poll_interval_ms: pollIntervalMs,
    // The scan must never sleep.
    asleep_poll_interval_ms: Math.min(pollIntervalMs, 60_000),
    explorer_transaction_url: null,
  },
];
