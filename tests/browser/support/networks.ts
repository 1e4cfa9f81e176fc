import type { Network } from '@quittance/contracts/networks.ts';

const common = { decimals: 6, confirmations: 12, finality: 'confirmations', poll_interval_ms: 1000 } as const;

/** The networks file of the gateway under test: a network of each address family, and one that wallets can add. */
export const networks: Network[] = [
  {
    ...common,
    id: 'ethereum',
    family: 'evm',
    chain_id: 1,
    rpc_urls: ['http://127.0.0.1:1'],
    usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    explorer_transaction_url: 'https://etherscan.io/tx/0x{transaction_id}',
    default_evm: true,
  },
  {
    ...common,
    id: 'polygon',
    family: 'evm',
    chain_id: 137,
    rpc_urls: ['http://127.0.0.1:1'],
    usdt_contract: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
    explorer_transaction_url: 'https://polygonscan.com/tx/0x{transaction_id}',
    wallet_chain: { name: 'Polygon Mainnet', coin: 'POL', rpc_url: 'https://polygon.example/rpc' },
  },
  {
    ...common,
    id: 'tron',
    family: 'tron',
    chain_id: 728126428,
    rpc_urls: ['http://127.0.0.1:1'],
    usdt_contract: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
    explorer_transaction_url: 'https://tronscan.org/#/transaction/{transaction_id}',
  },
];
