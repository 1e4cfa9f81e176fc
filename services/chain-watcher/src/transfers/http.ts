import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { CheckPayingTransfers, ListToldTransfers } from '@quittance/contracts/http/check.ts';
import {
  FindTransfersInWindows,
  ReadTransferProofs,
  type TransferPosition,
  type TransferProof,
  type TransferWindow,
} from '@quittance/contracts/http/chain-watcher/transfers.ts';
import { parseRfc3339 } from '@quittance/contracts/timestamp.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { decodeRlp } from 'ethers/utils';
import { BLOCK_TIME_MARGIN_SECONDS } from '../blocks/ranges.ts';
import { readCursor, type Cursor } from '../leadership/cursor.sql.ts';
import { readWatchSpans, type WatchSpan } from '../watches/watch.sql.ts';
import { checkPayingTransfers, listToldTransfers } from './check.sql.ts';
import { readProofs, type KeptProof } from './proof.sql.ts';
import { toTransferObserved } from './publish.ts';
import { readTransfersIn, type Window } from './transfer.sql.ts';

const MAX_TRANSFERS = 10_000;
/** Releases of payments up to 0.2.0 ask from this long before a payment and decide by block timestamps alone. Those blocks were read. */
const ASKED_BEFORE_MS = 15_000;

export const transfersInWindowsRoute = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route =>
  callRoute(FindTransfersInWindows, async ({ body }) => {
    const parsed = body.windows.map(parseWindow);
    const network = networks.find(({ id }) => id === body.network);
    const cursor = network && (await readCursor(pool, network.id));
    if (!network || !cursor) return { scanned_through: null, transfers: [] };
    const windows = parsed.map(({ amount, ...window }) => ({
      ...window,
      amountUnits: amount === null ? null : toTokenUnits(amount, network.decimals),
    }));
    // The transfers that a cursor covers were committed with it or before it, so it is read before them. It is read again after them,
    // because a reorg may have moved cursor and transfers back in between.
    const spans = await readWatchSpans(pool, network.id, [...new Set(windows.map(({ recipient }) => recipient))]);
    const page = body.page ?? { limit: MAX_TRANSFERS + 1 };
    const rows = await readTransfersIn(pool, network.id, windows, { ...page, reachSeconds: BLOCK_TIME_MARGIN_SECONDS });
    if (rows.length > MAX_TRANSFERS)
      throw invalid({ field: 'windows', reason: 'hold too many transfers for one answer' });
    const confirmingTip = cursor.tip?.number ?? 0;
    const after = (await readCursor(pool, network.id)) ?? cursor;
    const covered = [cursor, after].map((position) => scannedThrough(network, position, windows, spans));
    return {
      scanned_through: covered.includes(null) ? null : (covered.toSorted()[0] ?? null),
      transfers: rows.map((row) => toTransferObserved(network, row, confirmingTip)),
    };
  });

/** The earliest time up to which every window is covered; null when one of them is not covered at all. */
export function scannedThrough(
  { finalizedAbove }: Pick<ChainNetwork, 'finalizedAbove'>,
  { final, largeFinal, state }: Pick<Cursor, 'final' | 'largeFinal' | 'state'>,
  windows: readonly Pick<Window, 'recipient' | 'from' | 'amountUnits'>[],
  spans: readonly Pick<WatchSpan, 'address' | 'state' | 'watchedFrom' | 'endedThrough'>[],
): string | null {
  // A window without an amount may hold a transfer above the cap, which may still change when smaller ones are final.
  const isLarge = ({ amountUnits }: Pick<Window, 'amountUnits'>) =>
    finalizedAbove !== null && (amountUnits === null || amountUnits > finalizedAbove);
  const known = windows.some(isLarge) ? largeFinal : final;
  if (known === null || state === 'halted') return null;
  let through = known.timestamp * 1000;
  for (const window of windows) {
    const watch = spans.find(({ address }) => address === window.recipient);
    if (watch?.state !== 'watching' && watch?.state !== 'ended') return null;
    // A watch reads blocks as far before its start as a window extends before its own.
    if (Date.parse(window.from) < watch.watchedFrom.getTime() - ASKED_BEFORE_MS) return null;
    if (watch.endedThrough !== null) through = Math.min(through, watch.endedThrough.getTime());
  }
  return rfc3339(new Date(through));
}

/** The window, with its amount, if any, in millionths of a USDT. */
function parseWindow({ recipient, amount: text, from, to }: TransferWindow, position: number) {
  const field = `windows[${String(position)}]`;
  const address = parseAddress(recipient);
  if (address === null) throw invalid({ field: `${field}.recipient`, reason: 'must be a canonical address' });
  const amount = text === undefined ? null : parseAmount(text);
  if (text !== undefined && amount === null) throw invalid({ field: `${field}.amount`, reason: 'is not an amount' });
  for (const [name, time] of Object.entries({ from, to })) {
    if (parseRfc3339(time) === null)
      throw invalid({ field: `${field}.${name}`, reason: 'must be an RFC 3339 time in UTC' });
  }
  return { recipient: address.hex, amount, from, to };
}

export const transferProofsRoute = (db: Queryable): Route =>
  callRoute(ReadTransferProofs, async ({ body }) => {
    const rows = await readProofs(db, body.network, body.transfers);
    return { proofs: rows.flatMap((row) => toProof(row) ?? []) };
  });

function toProof({ header, nodes, transaction_index, ...row }: KeptProof): TransferProof | null {
  const leaf = nodes?.at(-1);
  if (header === null || nodes === null || transaction_index === null || leaf === undefined) return null;
  const [, receipt] = decodeRlp(leaf) as string[];
  if (receipt === undefined) return null;
  return {
    transaction_id: row.transaction_id,
    transaction_event_index: row.transaction_event_index,
    block_number: Number(row.block_number),
    block_hash: `0x${row.block_hash}`,
    block_timestamp: rfc3339(row.block_timestamp),
    agreed_by: row.agreed_by,
    transaction_index,
    header: hexOf(header),
    nodes: nodes.map(hexOf),
    receipt,
  };
}

const hexOf = (bytes: Buffer): string => `0x${bytes.toString('hex')}`;

/** Checks that the watcher's transfers agree with payments, for operators to run on a live system. They write nothing. */
export const checkRoutes = (db: Queryable): Route[] => [
  callRoute(ListToldTransfers, async ({ query: { network, since, below } }) => {
    if (network === null) throw invalid({ field: 'network', reason: 'is required' });
    const place = below === null ? null : parsePlace(below);
    const page = await listToldTransfers(db, { network, since: since ?? new Date(0), below: place });
    return { transfers: page.transfers, next: page.next && placeText(page.next) };
  }),
  callRoute(CheckPayingTransfers, async ({ body }) => ({
    violations: await checkPayingTransfers(db, body.transfers),
  })),
];

const placeText = ({ block_number, transaction_id, transaction_event_index }: TransferPosition): string =>
  `${block_number}-${transaction_id}-${transaction_event_index}`;

function parsePlace(text: string): TransferPosition {
  const [, block, id, index] = /^(\d{1,15})-([0-9a-f]{64})-(\d{1,9})$/.exec(text) ?? [];
  if (block === undefined || id === undefined || index === undefined)
    throw invalid({ field: 'below', reason: 'must be the next of a page' });
  return { block_number: Number(block), transaction_id: id, transaction_event_index: Number(index) };
}
