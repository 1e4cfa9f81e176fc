import type { Network } from '@quittance/contracts/networks.ts';

const network = {
  chain_id: 1,
  rpc_urls: ['http://127.0.0.1:1'],
  decimals: 6,
  confirmations: 2,
  finality: 'confirmations',
  poll_interval_ms: 1000,
  explorer_transaction_url: null,
} as const satisfies Partial<Network>;

export const USDT_ON_EVM = '0xdAC17F958D2ee523a2206206994597C13D831ec7';
export const USDT_ON_TRON = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';

export const evmNetwork: Network = {
  ...network,
  id: 'local',
  family: 'evm',
  usdt_contract: USDT_ON_EVM,
  default_evm: true,
};
export const otherEvmNetwork: Network = {
  ...network,
  id: 'other',
  family: 'evm',
  usdt_contract: `0x${'11'.repeat(20)}`,
};
const tronNetwork: Network = { ...network, id: 'tron', family: 'tron', usdt_contract: USDT_ON_TRON };
export const networks: readonly Network[] = [evmNetwork, otherEvmNetwork, tronNetwork];

/** A wallet with its EIP-55 checksum, and in lower case. */
export const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
export const WALLET_LOWER = WALLET.toLowerCase();
