import { addressFromHex, parseAddress } from '@quittance/contracts/address.ts';
import {
  LookUpTransaction,
  type LookedUp,
  type LookUpAccount,
  ReadWalletStates,
} from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { currentCaller } from '@quittance/runtime/concurrency/caller.ts';
import { withTimeout, DeadlineExceeded } from '@quittance/runtime/concurrency/deadline.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { readCursor } from '../leadership/cursor.sql.ts';
import { takeFromBudget } from './budget.sql.ts';
import type { ChainSight, LookUps } from './look-ups.ts';
import type { WalletStates } from './wallet-states.ts';

/** Longest wait for an answer. An answer that comes later is kept. */
const MAX_WAIT_MS = 4_000;
/** The rest of the caller's time is for sending the answer. */
const WAITING_SHARE = 0.8;

type Dependencies = {
  pool: Pool;
  lookUps: LookUps;
  /** Look-ups in an hour for a merchant and its customers; see takeFromBudget(). */
  limitPerHour: number;
  metrics: Metrics;
};

export function lookUpTransactionRoute({ pool, lookUps, limitPerHour, metrics }: Dependencies): Route {
  const counter = metrics.counter(
    'chain_look_ups_total',
    'Questions about single transactions, by answer: mined, failed, pending, unknown, budget, no_answer',
    ['outcome'],
  );

  async function answer(transactionId: string, first?: string, account?: LookUpAccount): Promise<LookedUp> {
    const sight = await see(transactionId, first, account);
    if (sight === null) return { outcome: 'not_read_yet', reason: 'budget' };
    return sight.kind === 'mined' ? describe(pool, sight) : toLookedUp(sight);
  }

  /** @returns null when the budget is used up. */
  async function see(transactionId: string, first?: string, account?: LookUpAccount): Promise<ChainSight | null> {
    const shared = lookUps.shared(transactionId);
    if (shared !== null) return waitFor(Promise.resolve(shared));
    const share = account === undefined ? 1 : await takeFromBudget(pool, account, limitPerHour);
    return share === null ? null : waitFor(lookUps.start(transactionId, first, share));
  }

  return callRoute(LookUpTransaction, async ({ body: { transaction_id: transactionId, first, account } }) => {
    const lookedUp = await answer(transactionId, first, account);
    counter.inc({ outcome: lookedUp.outcome === 'not_read_yet' ? lookedUp.reason : lookedUp.outcome });
    return lookedUp;
  });
}

async function waitFor(sight: Promise<ChainSight>): Promise<ChainSight> {
  const remainingMs = (currentCaller()?.remainingMs() ?? Infinity) * WAITING_SHARE;
  try {
    return await withTimeout(Math.min(MAX_WAIT_MS, remainingMs), sight);
  } catch (error) {
    if (error instanceof DeadlineExceeded) return { kind: 'unanswered' };
    throw error;
  }
}

function toLookedUp(sight: Exclude<ChainSight, { kind: 'mined' }>): LookedUp {
  switch (sight.kind) {
    case 'unknown':
      return { outcome: 'unknown' };
    case 'unanswered':
      return { outcome: 'not_read_yet', reason: 'no_answer' };
    case 'pending':
      return { outcome: 'pending', network: sight.network.id };
    case 'failed':
      return { outcome: 'failed', network: sight.network.id, block_timestamp: timeOf(sight.blockTimestamp) };
  }
}

async function describe(pool: Pool, sight: Extract<ChainSight, { kind: 'mined' }>): Promise<LookedUp> {
  const { id, family, decimals } = sight.network;
  const cursor = await readCursor(pool, id);
  const reaches = (block: { number: number } | null | undefined) => (block?.number ?? -1) >= sight.blockNumber;
  return {
    outcome: 'mined',
    network: id,
    block_number: sight.blockNumber,
    block_timestamp: timeOf(sight.blockTimestamp),
    is_scanned: reaches(cursor?.tip),
    is_final: reaches(cursor?.final),
    transfers: sight.transfers.map(({ transactionEventIndex, from, to, amountUnits }) => ({
      transaction_event_index: transactionEventIndex,
      from: addressFromHex(family, from),
      to: addressFromHex(family, to),
      amount_units: amountUnits.toString(),
      decimals,
    })),
    other_recipients: sight.otherRecipients.map((address) => addressFromHex(family, address)),
  };
}

const timeOf = (unixSeconds: number): string => rfc3339(new Date(unixSeconds * 1000));

export const walletStatesRoute = (states: WalletStates): Route =>
  callRoute(ReadWalletStates, ({ body: { network, addresses } }) => {
    const byHex = new Map(addresses.map((text, position) => [hexOf(text, position), text]));
    const frozen = states.blacklisted(network, [...byHex.keys()]);
    return Promise.resolve({ blacklisted: frozen.map((hex) => byHex.get(hex) ?? hex) });
  });

function hexOf(text: string, position: number): string {
  const address = parseAddress(text);
  if (address === null)
    throw invalid({ field: `addresses[${String(position)}]`, reason: 'must be a canonical address' });
  return address.hex;
}
