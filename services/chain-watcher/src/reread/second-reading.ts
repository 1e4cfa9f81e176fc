import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { matchRange, readRange, requireOurBlocks, type RangeLogs } from '@quittance/chain-reader/chain/read-range.ts';
import {
  decodeTransfer,
  findDeprecation,
  type Deprecation,
  type Transfer,
} from '@quittance/chain-reader/chain/transfers.ts';
import { isSameTransfer } from '@quittance/chain-reader/chain/verify.ts';
import type { Read } from '@quittance/chain-reader/rpc/endpoint.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { BLOCK_TIME_MARGIN_SECONDS } from '../blocks/ranges.ts';
import { reportDeprecation, reportIncident } from '../incidents/report.ts';
import { fencedTransaction, type ChainView, type Heights, type Term } from '../leadership/term.ts';
import { recordTransfers, storeTransfers } from '../transfers/publish.ts';
import { readCountedTransfers, readTransfersOfBlocks, toTransfer } from '../transfers/transfer.sql.ts';
import { readWatchSpans, type WatchSpan } from '../watches/watch.sql.ts';

export type BlockSpan = { from: number; to: number };

/** Final blocks read a second time. */
export type SecondReading = BlockSpan & {
  /** The transfers of these blocks that were stored before the reading. */
  expected: Transfer[];
  transfers: Transfer[];
  deprecation: Deprecation | null;
  /** The endpoint that answered. */
  endpoint: number;
};

/** `than`: the endpoint that the blocks were read from. `orSame`: whether that endpoint may answer when no other one can. */
type From = { than: number; orSame: boolean };

/**
 * Reads final blocks a second time. It picks the transfers to each wallet that is watched, that was watched at the time of the block, or that
 * received a stored transfer of these blocks.
 * @throws RpcError also when a node's blocks differ from ours. The node follows another fork, so its answer is not used.
 */
export async function readSpan(
  term: Term,
  chain: ChainView,
  { from, to }: BlockSpan,
  source: From,
): Promise<SecondReading> {
  const { network, pool, watches } = term;
  const expected = await readTransfersOfBlocks(pool, network.id, from, to);
  return askAnother(term, source, async (rpc) => {
    const range = await readRange(rpc, network, from, to, null);
    // A stored transfer names its block, even when the block itself is no longer stored.
    const named = new Map(expected.map(({ blockNumber, blockHash }) => [blockNumber, blockHash]));
    requireOurBlocks(range, (number) => chain.hashAt(number) ?? named.get(number));
    const wanted = new Set(expected.map((transfer) => transfer.to));
    for (const wallet of await endedSince(term, range)) wanted.add(wallet);
    const isWanted = (address: string) => watches.has(address) || wanted.has(address);
    const same = network.isProven ? sameAgain(network, range, expected, isWanted) : [];
    const known = new Set(same.map(({ blockNumber }) => blockNumber));
    const entries = range.entries.filter(({ block }) => !known.has(block.number));
    const read = await matchRange(rpc, network, { ...range, entries }, { has: isWanted });
    const deprecation = findDeprecation(network.token, range.entries);
    return { from, to, expected, transfers: [...same, ...read], deprecation, endpoint: rpc.endpoint };
  });
}

/**
 * The stored transfers of those blocks whose events are the same again. The hash of such a block has proved its transfers already, and the
 * events name the same transactions, so its receipts are not read a second time.
 */
function sameAgain(
  { token }: Pick<ChainNetwork, 'token'>,
  { entries }: RangeLogs,
  expected: readonly Transfer[],
  isWanted: (address: string) => boolean,
): Transfer[] {
  const stored = Map.groupBy(expected, ({ blockHash }) => blockHash);
  return entries.flatMap(({ block, logs }) => {
    const ofBlock = stored.get(block.hash) ?? [];
    const shown = logs.flatMap((log) => decodeTransfer(token, log) ?? []).filter(({ to }) => isWanted(to));
    const keys = shown.map(({ log, ...transfer }) =>
      moneyOf({ ...transfer, transactionId: log.transactionHash.slice(2) }),
    );
    return keys.sort().join() === ofBlock.map(moneyOf).sort().join() ? ofBlock : [];
  });
}

const moneyOf = ({
  transactionId,
  from,
  to,
  amountUnits,
}: Pick<Transfer, 'transactionId' | 'from' | 'to' | 'amountUnits'>): string =>
  [transactionId, from, to, amountUnits].join(' ');

/** If there is only one endpoint, it is asked again. */
async function askAnother<T>({ endpoints }: Term, { than, orSame }: From, read: Read<T>): Promise<T> {
  try {
    const answer = await endpoints.askAnother(read, than);
    if (answer !== null) return answer;
  } catch (error) {
    if (!orSame || !(error instanceof RpcError) || error.kind === 'range') throw error;
  }
  return endpoints.ask(read);
}

/** Whether a scan without faults would have stored this transfer. Blocks that a back-fill still has to read are no fault. */
export function wasWatched(watch: WatchSpan, transfer: Pick<Transfer, 'blockNumber' | 'blockTimestamp'>): boolean {
  const earliest = watch.watchedFrom.getTime() / 1000 - BLOCK_TIME_MARGIN_SECONDS;
  if (transfer.blockTimestamp < earliest) return false;
  switch (watch.state) {
    case 'new':
      return false;
    case 'backfilling':
      return watch.backFillTo !== null && transfer.blockNumber > watch.backFillTo;
    case 'watching':
      return true;
    case 'ended':
      return watch.endedThrough !== null && transfer.blockTimestamp * 1000 < watch.endedThrough.getTime();
  }
}

/** The recipients in this range whose watch ended only after it, so that the watch set no longer has them. */
async function endedSince({ network, pool, watches }: Term, { first, entries }: RangeLogs): Promise<string[]> {
  const recipients = new Set<string>();
  for (const log of entries.flatMap(({ logs }) => logs)) {
    const decoded = decodeTransfer(network.token, log);
    if (decoded !== null && !watches.has(decoded.to)) recipients.add(decoded.to);
  }
  if (recipients.size === 0) return [];
  const spans = await readWatchSpans(pool, network.id, [...recipients]);
  return spans
    .filter(({ endedThrough }) => endedThrough !== null && endedThrough.getTime() > first.timestamp * 1000)
    .map(({ address }) => address);
}

/** How a second reading differs from what is stored. */
type Differences = {
  /** Transfers to watched wallets that are not stored. */
  lacking: Transfer[];
  /** Those of them that the scan should have seen. */
  missed: Transfer[];
  /** Stored transfers that the second reading does not show, or shows with another amount, address or time. */
  unseen: Transfer[];
};

/**
 * Stores the transfers that only the second reading of final blocks shows, and raises an incident for each difference that a correct scan
 * would not have. Nothing is retracted: a person has to decide which of two endpoints to believe.
 */
export async function storeDifferences(
  term: Term,
  heights: Heights,
  reading: SecondReading,
  progress: {
    /** Whether to store only transfers that the scan should have seen; otherwise all transfers to watched wallets. */
    onlyMissed: boolean;
    /** Records in the same transaction that the blocks were read, and how many unknown transfers they held. */
    store: (tx: Transaction, found: number) => Promise<void>;
  },
): Promise<void> {
  const published = await fencedTransaction(term, async (tx) => {
    const { missed, unseen, lacking } = await compare(tx, term.network.id, reading);
    const unknown = progress.onlyMissed ? missed : lacking;
    const stored = unknown.length > 0 ? await storeTransfers(tx, term, unknown, heights) : NOTHING_STORED;
    // A scan that asked only for transfers to some wallets has not seen a deprecation.
    if (reading.deprecation !== null) await reportDeprecation(tx, term, reading.deprecation);
    const inserted = new Set(stored.inserted.map(toTransfer).map(eventKey));
    for (const transfer of missed)
      if (inserted.has(eventKey(transfer))) await reportDifference(tx, term, reading, 'transfer_missed', transfer);
    for (const transfer of unseen) await reportDifference(tx, term, reading, 'transfer_unseen_by_audit', transfer);
    await progress.store(tx, stored.inserted.length);
    faultPoint('audit-written');
    return stored.published;
  });
  recordTransfers(term, published);
}

const NOTHING_STORED = { inserted: [], published: [] };

async function compare(tx: Transaction, network: string, { expected, transfers }: SecondReading): Promise<Differences> {
  // A transfer that is stored in another block is not new: a chain cannot hold it twice. The stored one counts until an operator decides.
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
  // A back-fill or a reorg may have changed the stored transfers while the node was answering.
  const stillThere = new Set((await readCountedTransfers(tx, network, unshown)).map(placeKey));
  return {
    lacking,
    missed,
    unseen: unshown.filter((stored) => stillThere.has(placeKey(stored))),
  };
}

async function reportDifference(
  tx: Transaction,
  term: Term,
  { from, to, endpoint }: SecondReading,
  kind: 'transfer_missed' | 'transfer_unseen_by_audit',
  transfer: Transfer,
): Promise<void> {
  const detail = {
    transaction_id: transfer.transactionId,
    transaction_event_index: transfer.transactionEventIndex,
    block_number: transfer.blockNumber,
    block_hash: transfer.blockHash,
    read_again: { from_block: from, to_block: to, endpoint },
  };
  const incident = { kind, cause: placeKey(transfer), detail };
  const isNew = await reportIncident(tx, term, incident, 'a second reading of final blocks differs from the first');
  if (isNew && kind === 'transfer_missed')
    tx.afterCommit(() => term.metrics.missedTransfers.inc({ network: term.network.id }));
}

type Event = Pick<Transfer, 'transactionId' | 'transactionEventIndex'>;
const eventKey = (event: Event): string => `${event.transactionId}:${String(event.transactionEventIndex)}`;
const placeKey = (event: Event & { blockHash: string }): string => `${eventKey(event)}:${event.blockHash}`;
