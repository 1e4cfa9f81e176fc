import { parseAmount } from '@quittance/contracts/amount.ts';
import { agreementAboveUnits, type Network } from '@quittance/contracts/networks.ts';

/** What a transfer needs beside its confirmations. */
export type ConfirmationDemand = {
  /** The chain's own word that its block is final. */
  finality: boolean;
  /** Whether that is because of its amount. */
  isLarge: boolean;
  /** A second endpoint that shows it. */
  agreement: boolean;
};

/** What the networks file demands of a transfer of this amount, in millionths of a USDT. chain-watcher decides by the same file. */
export type ConfirmationPolicy = (network: string, amountUnits: bigint) => ConfirmationDemand;

export function createConfirmationPolicy(networks: readonly Network[]): ConfirmationPolicy {
  const byId = new Map(networks.map((network) => [network.id, network]));
  return (id, amountUnits) => {
    const network = byId.get(id);
    const isLarge = exceeds(amountUnits, unitsOf(network?.finalized_above_amount));
    return {
      finality: isLarge || network?.finality === 'finalized',
      isLarge,
      agreement: exceeds(amountUnits, network === undefined ? null : agreementAboveUnits(network)),
    };
  };
}

const unitsOf = (amount: string | undefined): bigint | null => (amount === undefined ? null : parseAmount(amount));

const exceeds = (amountUnits: bigint, units: bigint | null): boolean => units !== null && amountUnits > units;
