import { formatUnits, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { FoundTransfer, FoundTransfers, LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { TransactionFinder } from '../clients.ts';
import { shownCandidates } from '../queries/candidates.ts';
import {
  findLikeliestNetwork,
  findOwnWallets,
  findTransfersOf,
  type FoundTransferRow,
} from '../queries/found-transfers.ts';
import { type ProgressSources, withProgress } from '../views/confirmations.ts';
import { explainLookedUp, explainTransfers } from './explanation.ts';

export type FindingContext = ProgressSources & {
  db: Queryable;
  finder: TransactionFinder;
  /** Ids of those that are on. */
  networks: readonly string[];
};

/**
 * Where a merchant's money is. Of the ledger only what concerns this merchant counts: a transfer to another merchant's wallet is looked up on
 * chain like any, so that no answer tells what the chain does not.
 */
export async function findMerchantTransfers(
  context: FindingContext,
  merchantId: string,
  transactionId: string,
): Promise<FoundTransfers> {
  const rows = await findTransfersOf(context.db, transactionId, { merchantId });
  const transfers = await toFound(context, rows, merchantId);
  if (transfers.length > 0)
    return { transfers: transfers.map(({ merchant_id: _, ...own }) => own), ...explainTransfers(transfers) };
  const first = await findLikeliestNetwork(context.db, merchantId);
  const lookedUp = await context.finder.lookUp(transactionId, first, { merchant_id: merchantId, by: 'merchant' });
  return { transfers: [], ...explainLookedUp(lookedUp, await ownWallets(context, merchantId, lookedUp)) };
}

/** The same for operators, of all merchants. */
export async function locateTransfers(context: FindingContext, transactionId: string): Promise<LocatedTransfers> {
  const rows = await findTransfersOf(context.db, transactionId);
  const transfers = await toFound(context, rows, null);
  if (transfers.length > 0)
    return { transaction_id: transactionId, transfers, ...explainTransfers(transfers), chain: null };
  const chain = await context.finder.lookUp(transactionId, null, null);
  const explanation = explainLookedUp(chain, await ownWallets(context, null, chain));
  return { transaction_id: transactionId, transfers: [], ...explanation, chain };
}

async function ownWallets(
  { db, networks }: FindingContext,
  merchantId: string | null,
  lookedUp: LookedUp,
): Promise<string[]> {
  if (lookedUp.outcome !== 'mined') return [];
  const addresses = new Set([...lookedUp.transfers.map(({ to }) => to), ...lookedUp.other_recipients]);
  return findOwnWallets(db, merchantId, [...addresses], networks);
}

async function toFound(
  progress: ProgressSources,
  rows: readonly FoundTransferRow[],
  merchantId: string | null,
): Promise<(FoundTransfer & { merchant_id: string })[]> {
  // What a transfer waits for is said of the payment that it pays; here it is said of the transfer itself.
  const seen = await withProgress(
    rows.map((row) => ({
      ...row,
      status: row.phase === 'seen' ? 'CHECKING' : 'PAID',
      amount_units: millionthsOf(row),
    })),
    progress,
  );
  return rows.map((row, position) => {
    const { only, ...shown } = shownCandidates(row.candidates, merchantId);
    return {
      network: row.network,
      transaction_id: row.transaction_id,
      transaction_event_index: row.transaction_event_index,
      amount: formatUnits(BigInt(row.amount_units), row.decimals),
      merchant_wallet: row.recipient,
      sender: row.sender,
      block_number: Number(row.block_number),
      block_timestamp: rfc3339(row.block_timestamp),
      state: row.phase,
      waiting_for: seen[position]?.waiting_for ?? null,
      payment_id: row.payment_id ?? only,
      reason: row.reason,
      ...shown,
      merchant_id: merchantId ?? row.merchant_ids[0] ?? '',
    };
  });
}

const millionthsOf = ({ amount_units: units, decimals }: FoundTransferRow): bigint =>
  BigInt(units) / toTokenUnits(1n, decimals);
