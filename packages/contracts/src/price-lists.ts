/** Units per call, by method; `default` is for every other method. */
export type UnitPrices = Record<string, number> & { default: number };

/**
 * The prices that providers publish, as of November 2026. Networks files name a list or contain their own.
 * Sources: alchemy.com/docs/reference/compute-unit-costs (compute units);
 * docs.metamask.io/services/get-started/pricing/credit-cost (Infura's credits; a batch counts as one additional call);
 * quicknode.com/api-credits (credits; Tron 30, Celo 40 per call).
 */
export const priceLists: Readonly<Record<string, UnitPrices>> = {
  alchemy: { default: 20, eth_chainId: 0, eth_blockNumber: 10, eth_getLogs: 60 },
  infura: { default: 80, eth_chainId: 5, eth_getLogs: 255, eth_getBlockReceipts: 1000, batch: 80 },
  quicknode: { default: 20 },
};
