import type { Deprecation } from '@quittance/chain-reader/chain/transfers.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import type { NetworkContext } from '../leadership/term.ts';
import { raiseIncident, type IncidentKind } from './incident.sql.ts';

/** Raises an incident. After the commit, a new one is counted and logged. @returns whether it is new. */
export async function reportIncident(
  tx: Transaction,
  { network, metrics, logger }: Pick<NetworkContext, 'network' | 'metrics' | 'logger'>,
  incident: { kind: IncidentKind; cause?: string; detail: Record<string, unknown> },
  message: string,
): Promise<boolean> {
  const isNew = await raiseIncident(tx, { network: network.id, ...incident });
  if (isNew)
    tx.afterCommit(() => {
      metrics.incidents.inc({ network: network.id, kind: incident.kind });
      logger.error({ network: network.id, ...incident.detail }, message);
    });
  return isNew;
}

/**
 * The networks file names the contract, so only a person can decide what to do about a new one. Everything read until then stays true:
 * an event of the old contract is a transfer of the old token.
 */
export function reportDeprecation(
  tx: Transaction,
  context: NetworkContext,
  { transactionId, blockNumber, successor }: Deprecation,
): Promise<boolean> {
  const { family, token } = context.network;
  const detail = {
    contract: addressFromHex(family, token),
    successor: successor === null ? null : addressFromHex(family, successor),
    block_number: blockNumber,
    transaction_id: transactionId,
  };
  const incident = { kind: 'token_deprecated', cause: transactionId, detail } as const;
  return reportIncident(tx, context, incident, 'the USDT contract has been deprecated by its owner');
}
