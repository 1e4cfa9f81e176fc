import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { readJson } from '@quittance/http/server/body.ts';
import { invalid, type ValidationItem } from '@quittance/http/errors.ts';
import { route, type Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { toTransferObserved } from '../transfers/message.ts';
import { BLOCK_TIME_MARGIN_SECONDS } from '../reading/block-time.ts';
import { readCursor, type Cursor } from '../store/cursor.ts';
import { readTransfersIn, type Window } from '../store/transfers.ts';
import { readWatchSpans, type WatchSpan } from '../store/watches.ts';

const MAX_WINDOWS = 100;
const MAX_TRANSFERS = 10_000;
const MAX_BODY_BYTES = 64 * 1024;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

/**
 * POST /internal/v1/transfers/in-windows { network, windows: [{ recipient, amount?, from, to }] } → { scanned_through, transfers }.
 * `scanned_through`: every transfer to every one of these recipients with an earlier block timestamp is known and final; null
 * while that can be said of no moment: a wallet that is new or still being back-filled, a window from before its wallet was
 * watched, a network that is halted or unknown. `transfers`: those in the windows, in the words of TransferObserved;
 * where a window names an amount (decimal text), those of exactly that amount. Without any window it tells how far the network
 * itself is scanned.
 * What payments asks before it lets a payment expire.
 */
export function windowsRoute({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route {
  return route({
    method: 'POST',
    path: '/internal/v1/transfers/in-windows',
    async handle(request) {
      const asked = await readJson(request, MAX_BODY_BYTES, parseQuestion);
      const network = networks.find(({ id }) => id === asked.network);
      const cursor = network && (await readCursor(pool, network.id));
      if (!network || !cursor) return { status: 200, body: { scanned_through: null, transfers: [] } };
      // What a cursor covers was committed with it or before it, so it is read before the transfers; and once more after them, because a
      // reorg may have taken transfers and cursor back meanwhile.
      const spans = await readWatchSpans(pool, network.id, [
        ...new Set(asked.windows.map(({ recipient }) => recipient)),
      ]);
      const windows = inTokenUnits(asked.windows, network);
      const rows = await readTransfersIn(pool, network.id, windows, MAX_TRANSFERS + 1);
      if (rows.length > MAX_TRANSFERS)
        throw invalid({ field: 'windows', reason: 'hold too many transfers for one answer' });
      const confirmingTip = cursor.tip?.number ?? 0;
      const after = (await readCursor(pool, network.id)) ?? cursor;
      const claims = [cursor, after].map((position) => scannedThrough(network, position, windows, spans));
      return {
        status: 200,
        body: {
          scanned_through: claims.includes(null) ? null : claims.toSorted()[0],
          transfers: rows.map((row) => toTransferObserved(network, row, confirmingTip)),
        },
      };
    },
  });
}

/** The earliest of what is known for each window; null as soon as one of them is not covered at all. */
export function scannedThrough(
  { finalizedAbove }: Pick<ChainNetwork, 'finalizedAbove'>,
  { final, largeFinal, state }: Pick<Cursor, 'final' | 'largeFinal' | 'state'>,
  windows: readonly Pick<Window, 'recipient' | 'from' | 'amountUnits'>[],
  spans: readonly Pick<WatchSpan, 'address' | 'state' | 'watchedFrom' | 'endedThrough'>[],
): string | null {
  // An amount above the cap, or one that nobody names, may still come or go where smaller ones cannot.
  const isLarge = ({ amountUnits }: Pick<Window, 'amountUnits'>) =>
    finalizedAbove !== null && (amountUnits === null || amountUnits > finalizedAbove);
  const known = windows.some(isLarge) ? largeFinal : final;
  if (known === null || state === 'halted') return null;
  let through = known.timestamp * 1000;
  for (const window of windows) {
    const watch = spans.find(({ address }) => address === window.recipient);
    if (watch?.state !== 'watching' && watch?.state !== 'ended') return null;
    if (Date.parse(window.from) < watch.watchedFrom.getTime() - BLOCK_TIME_MARGIN_SECONDS * 1000) return null;
    if (watch.endedThrough !== null) through = Math.min(through, watch.endedThrough.getTime());
  }
  return rfc3339(new Date(through));
}

/** A window as it is asked for: the amount, if there is one, in millionths of a USDT. */
type AskedWindow = Omit<Window, 'amountUnits'> & { amount: bigint | null };

const inTokenUnits = (windows: readonly AskedWindow[], { decimals }: ChainNetwork): Window[] =>
  windows.map(({ amount, ...window }) => ({
    ...window,
    amountUnits: amount === null ? null : toTokenUnits(amount, decimals),
  }));

function parseQuestion(body: Record<string, unknown>): { network: string; windows: AskedWindow[] } {
  const { network, windows } = body;
  const problems: ValidationItem[] = [];
  if (typeof network !== 'string') problems.push({ field: 'network', reason: 'must be a string' });
  if (!Array.isArray(windows) || windows.length > MAX_WINDOWS) {
    problems.push({ field: 'windows', reason: `must be a list of at most ${String(MAX_WINDOWS)}` });
  }
  if (problems.length > 0) throw invalid(...problems);
  return { network: network as string, windows: (windows as unknown[]).map(parseWindow) };
}

function parseWindow(value: unknown, position: number): AskedWindow {
  const { recipient, amount: amountText, from, to } = (value ?? {}) as Record<string, unknown>;
  const address = typeof recipient === 'string' ? parseAddress(recipient) : null;
  const field = `windows[${String(position)}]`;
  if (address === null) throw invalid({ field: `${field}.recipient`, reason: 'must be a canonical address' });
  const amount = typeof amountText === 'string' ? parseAmount(amountText) : null;
  if (amountText !== undefined && amount === null) throw invalid({ field: `${field}.amount`, reason: 'is no amount' });
  if (!isTimestamp(from)) throw invalid({ field: `${field}.from`, reason: 'must be an RFC 3339 time in UTC' });
  if (!isTimestamp(to)) throw invalid({ field: `${field}.to`, reason: 'must be an RFC 3339 time in UTC' });
  return { recipient: address.hex, amount, from, to };
}

function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && TIMESTAMP.test(value) && !Number.isNaN(Date.parse(value));
}
