import type { Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { raiseIncident, type IncidentKind } from '../store/incidents.ts';
import { readCountedTransfers, type TransferRow } from '../store/transfers.ts';
import { readWatchSpans } from '../store/watches.ts';
import type { Transfer } from '@quittance/chain-reader/chain/transfers.ts';
import { isSameTransfer } from '@quittance/chain-reader/chain/verify.ts';
import { wasWatched, type SecondReading } from './read-span.ts';
import type { Heights } from '../term/position.ts';
import { fencedTransaction, type Term } from '../term/term.ts';
import { reportDeprecation } from '../token/deprecation.ts';
import { recordTransfers, storeTransfers } from '../transfers/publish.ts';

/** What a second reading has that the store lacks, and the other way round. */
type Differences = {
  /** The transfers to watched wallets that the store lacks. */
  lacking: Transfer[];
  /** Those of them that the scan should have seen. */
  missed: Transfer[];
  /** Stored transfers that the second reading does not show, or not with the same money and time. */
  unseen: Transfer[];
};

/**
 * Stores what a second reading of final blocks shows and the store lacks, and raises an incident for each difference that the scan has
 * to answer for. Nothing is retracted: which of two endpoints to believe is for a person to decide.
 */
export async function storeDifferences(
  term: Term,
  heights: Heights,
  reading: SecondReading,
  progress: {
    /** Whether only transfers that the scan should have seen are stored; otherwise all those to watched wallets. */
    onlyMissed: boolean;
    /** Records in the same transaction that the blocks have been read, and how many unknown transfers they held. */
    store: (tx: Transaction, found: number) => Promise<void>;
  },
): Promise<void> {
  const { network, metrics, logger } = term;
  const { published, raised } = await fencedTransaction(term, async (tx) => {
    const { missed, unseen, lacking } = await compare(tx, network.id, reading);
    const unknown = progress.onlyMissed ? missed : lacking;
    const stored = unknown.length > 0 ? await storeTransfers(tx, term, unknown, heights) : NOTHING_STORED;
    // Where only transfers to some wallets were asked for, the scan has not seen it.
    if (reading.deprecation !== null) await reportDeprecation(tx, term, reading.deprecation);
    const kinds = await raiseIncidents(tx, network.id, reading, { missed, unseen }, stored.inserted);
    await progress.store(tx, stored.inserted.length);
    faultPoint('audit-written');
    return { published: stored.published, raised: kinds };
  });
  recordTransfers(term, published);
  for (const kind of raised) {
    metrics.incidents.inc({ network: network.id, kind });
    if (kind === 'transfer_missed') metrics.missedTransfers.inc({ network: network.id });
  }
  if (raised.length > 0) {
    const { from, to, endpoint } = reading;
    logger.error(
      { network: network.id, from_block: from, to_block: to, endpoint, incidents: raised },
      'a second reading of final blocks differs from the first',
    );
  }
}

const NOTHING_STORED = { inserted: [], published: [] };

async function compare(tx: Transaction, network: string, { expected, transfers }: SecondReading): Promise<Differences> {
  // One that counts in another block is not new: a chain cannot hold it twice, and the stored one stands until an operator decides.
  const known = new Set((await readCountedTransfers(tx, network, transfers)).map(eventKey));
  const lacking = transfers.filter((transfer) => !known.has(eventKey(transfer)));
  const spans = await readWatchSpans(tx, network, [...new Set(lacking.map(({ to }) => to))]);
  const byAddress = new Map(spans.map((span) => [span.address, span]));
  const missed = lacking.filter((transfer) => {
    const span = byAddress.get(transfer.to);
    return span !== undefined && wasWatched(span, transfer);
  });
  const shown = new Map(transfers.map((transfer) => [placeKey(transfer), transfer]));
  const unshown = expected.filter((stored) => {
    const other = shown.get(placeKey(stored));
    return other === undefined || !isSameTransfer(stored, other);
  });
  // A back-fill or a reorg may have changed the store while the node was answering.
  const stillThere = new Set((await readCountedTransfers(tx, network, unshown)).map(placeKey));
  return {
    lacking,
    missed,
    unseen: unshown.filter((stored) => stillThere.has(placeKey(stored))),
  };
}

/** @returns the kind of each incident that is new. */
async function raiseIncidents(
  tx: Transaction,
  network: string,
  { from, to, endpoint }: SecondReading,
  { missed, unseen }: Pick<Differences, 'missed' | 'unseen'>,
  found: readonly TransferRow[],
): Promise<IncidentKind[]> {
  const stored = new Set(found.map((row) => `${row.transaction_id}:${String(row.transaction_event_index)}`));
  const all = [
    ...missed
      .filter((transfer) => stored.has(eventKey(transfer)))
      .map((transfer) => ['transfer_missed', transfer] as const),
    ...unseen.map((transfer) => ['transfer_unseen_by_audit', transfer] as const),
  ];
  const raised: IncidentKind[] = [];
  for (const [kind, transfer] of all) {
    const { transactionId, transactionEventIndex, blockNumber, blockHash } = transfer;
    const isNew = await raiseIncident(tx, {
      network,
      kind,
      cause: placeKey(transfer),
      detail: {
        transaction_id: transactionId,
        transaction_event_index: transactionEventIndex,
        block_number: blockNumber,
        block_hash: blockHash,
        read_again: { from_block: from, to_block: to, endpoint },
      },
    });
    if (isNew) raised.push(kind);
  }
  return raised;
}

type Event = Pick<Transfer, 'transactionId' | 'transactionEventIndex'>;
const eventKey = (event: Event): string => `${event.transactionId}:${String(event.transactionEventIndex)}`;
const placeKey = (event: Event & { blockHash: string }): string => `${eventKey(event)}:${event.blockHash}`;
