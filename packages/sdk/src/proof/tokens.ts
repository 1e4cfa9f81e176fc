/** Where the USDT of a network is, and how many decimals its amounts have. */
export type TokenOfNetwork = { chainId: number; address: string; decimals: number };

const usdt = (chainId: number, address: string, decimals = 6): TokenOfNetwork => ({ chainId, address, decimals });

/** The networks that Quittance ships and whose payments can be proved. A proof must not choose its own token. */
export const tokenOfNetwork: Readonly<Record<string, TokenOfNetwork>> = {
  ethereum: usdt(1, '0xdAC17F958D2ee523a2206206994597C13D831ec7'),
  bnb: usdt(56, '0x55d398326f99059fF775485246999027B3197955', 18),
  polygon: usdt(137, '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'),
  arbitrum: usdt(42161, '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'),
  base: usdt(8453, '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2'),
  optimism: usdt(10, '0x01bFF41798a0BcF287b996046Ca68b395DbC1071'),
  'optimism-bridged': usdt(10, '0x94b008aA00579c1307B0EF2c499aD98a8ce58e58'),
  avalanche: usdt(43114, '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7'),
  plasma: usdt(9745, '0xB8CE59FC3717ada4C02eaDF9682A9e934F625ebb'),
  celo: usdt(42220, '0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e'),
};
