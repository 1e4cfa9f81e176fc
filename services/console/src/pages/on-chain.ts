import { formatUnits } from '@quittance/contracts/amount.ts';
import type { LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { ChoiceTransfer } from './transfers.ts';

/** The transfers of a transaction that the ledger does not have, as the chain shows them: money that came when nobody watched the wallet. */
export const transfersOnChain = (transactionId: string, chain: LocatedTransfers['chain']): ChoiceTransfer[] =>
  chain?.outcome !== 'mined'
    ? []
    : chain.transfers.map(({ transaction_event_index, to, amount_units: units, decimals }) => ({
        ...{ network: chain.network, transaction_id: transactionId, transaction_event_index },
        ...{ merchant_wallet: to, amount: formatUnits(BigInt(units), decimals) },
        ...{ block_timestamp: chain.block_timestamp, candidates: [], recorded: null },
      }));
