import type { Deprecation } from '@quittance/chain-reader/chain/transfers.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { raiseIncident } from './incident.sql.ts';
import type { NetworkContext } from '../leadership/term.ts';

/**
 * The networks file names the contract, so only a person can decide what follows from another one. What is read meanwhile stays true:
 * an event of the old contract is a transfer of the old token.
 */
export async function reportDeprecation(
  tx: Transaction,
  { network, metrics, logger }: NetworkContext,
  { transactionId, blockNumber, successor }: Deprecation,
): Promise<void> {
  const detail = {
    contract: addressFromHex(network.family, network.token),
    successor: successor === null ? null : addressFromHex(network.family, successor),
    block_number: blockNumber,
  };
  const incident = { network: network.id, kind: 'token_deprecated', cause: transactionId } as const;
  const isNew = await raiseIncident(tx, { ...incident, detail: { ...detail, transaction_id: transactionId } });
  if (!isNew) return;
  tx.afterCommit(() => {
    metrics.incidents.inc({ network: network.id, kind: incident.kind });
    logger.error({ network: network.id, ...detail }, 'the USDT contract has been deprecated by its owner');
  });
}
