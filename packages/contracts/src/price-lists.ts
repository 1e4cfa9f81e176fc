/** Units that one call takes, by method; `default` for every other one. */
export type UnitPrices = Record<string, number> & { default: number };

/**
 * What providers publish, as of November 2026. Networks files name a list, or hold one of their own.
 * Sources: alchemy.com/docs/reference/compute-unit-costs (compute units); docs.metamask.io/services/get-started/pricing/credit-cost
 * (Infura's credits, where a batch counts as one call more); quicknode.com/api-credits (credits; Tron 30, Celo 40 a call).
 */
export const priceLists: Readonly<Record<string, UnitPrices>> = {
  alchemy: { default: 20, eth_chainId: 0, eth_blockNumber: 10, eth_getLogs: 60 },
  infura: { default: 80, eth_chainId: 5, eth_getLogs: 255, eth_getBlockReceipts: 1000, batch: 80 },
  quicknode: { default: 20 },
};
