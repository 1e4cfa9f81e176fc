import { CHAIN_ID, TOKEN } from './synthetic-chain.ts';

export const NETWORK = 'synthetic';

/** Blocks of one request: on a busy chain, their events are the most that providers return. */
export const RANGE = 50;

/** Whether a block's hash proves its transfers. Then a second endpoint confirms the hash of each block that has one. */
export type Receipts = 'proven' | 'unproven';

export const CONFIRMATIONS = 12;

/** The networks file of a service that scans the synthetic chain. */
export const networksFile = ({
  url,
  receipts,
  pollIntervalMs = 1_000,
}: {
  url: string;
  receipts: Receipts;
  pollIntervalMs?: number;
}) => [
  {
    id: NETWORK,
    family: 'evm',
    chain_id: CHAIN_ID,
    // The second one is the same node: only the address has to differ.
    rpc_urls: receipts === 'proven' ? [url, `${url}/second`] : [url],
    receipts,
    usdt_contract: TOKEN,
    decimals: 6,
    confirmations: CONFIRMATIONS,
    finality: 'confirmations',
    max_block_range: RANGE,
    poll_interval_ms: pollIntervalMs,
    // The scan must never sleep.
    asleep_poll_interval_ms: Math.min(pollIntervalMs, 60_000),
    explorer_transaction_url: null,
  },
];
