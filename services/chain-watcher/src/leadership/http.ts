import { hostname } from 'node:os';
import { ReadChains, type ChainStatus } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { readCursor, type Cursor, readTips } from './cursor.sql.ts';
import { countOpenIncidents } from '../incidents/incident.sql.ts';
import { isAnybodyWaiting } from '../watches/payment.sql.ts';
import { countWatches } from '../watches/watch.sql.ts';
import { ReadTips } from '@quittance/contracts/http/chain-watcher/tips.ts';

type WatchedNetwork = {
  network: ChainNetwork;
  endpoints: Endpoints;
  loop: { isLeading(): boolean; clockDifference(): number | null; scanError(): string | null };
};
type Dependencies = { pool: Pool; networks: readonly WatchedNetwork[]; clockDifferenceMs: () => number | null };

/** The process id distinguishes two replicas on one machine. */
const replica = `${hostname()}:${String(process.pid)}`;

/** For every enabled network, where its scan stands and how this replica finds its nodes. */
export const chainsRoute = ({ pool, networks, clockDifferenceMs }: Dependencies): Route =>
  callRoute(ReadChains, () => {
    const differenceMs = clockDifferenceMs();
    const ours = differenceMs === null ? null : differenceMs / 1000;
    return Promise.all(networks.map((watched) => describe(pool, watched, ours)));
  });

/** @param ours this process's clock less the database's, in seconds. */
async function describe(
  pool: Pool,
  { network, endpoints, loop }: WatchedNetwork,
  ours: number | null,
): Promise<ChainStatus> {
  const cursor = await readCursor(pool, network.id);
  const chain = loop.clockDifference();
  const [watches, openIncidents, isAwake] = await Promise.all([
    countWatches(pool, network.id),
    countOpenIncidents(pool, network.id),
    isAnybodyWaiting(pool, network.id),
  ]);
  return {
    network: network.id,
    ...position(cursor, endpoints.head()?.number ?? null),
    // Below the first block when nothing of the chain has been read twice yet.
    audited: typeof cursor?.audited === 'number' && cursor.audited >= 0 ? cursor.audited : null,
    confirmations_required: network.confirmations,
    watched_wallets: watches.watched,
    asleep: !isAwake,
    back_fills_waiting: watches.backFilling,
    open_incidents: openIncidents,
    halted_at: cursor?.haltedAt ? rfc3339(cursor.haltedAt) : null,
    halt_reason: cursor?.haltReason ?? null,
    scan_error: loop.scanError(),
    replica,
    leader: loop.isLeading(),
    clock_difference_seconds: ours,
    chain_clock_difference_seconds: ours === null || chain === null ? null : chain + ours,
    endpoints: endpoints.states(),
  };
}

function position(cursor: Cursor | null, endpointHead: number | null) {
  const tip = cursor?.tip ?? null;
  if (cursor === null || tip === null) {
    return {
      head: null,
      endpoint_head: endpointHead,
      finalized: null,
      final: null,
      cursor: null,
      cursor_timestamp: null,
      lag_blocks: null,
      lag_seconds: null,
      scanned_through: null,
    };
  }
  return {
    head: cursor.head,
    endpoint_head: endpointHead,
    finalized: cursor.finalized,
    final: cursor.final?.number ?? null,
    cursor: tip.number,
    cursor_timestamp: rfc3339(new Date(tip.timestamp * 1000)),
    lag_blocks: Math.max(0, Math.max(cursor.head, endpointHead ?? 0) - tip.number),
    lag_seconds: Math.max(0, Math.round(Date.now() / 1000 - tip.timestamp)),
    scanned_through: cursor.final ? rfc3339(new Date(cursor.final.timestamp * 1000)) : null,
  };
}

export const tipsRoute = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route =>
  callRoute(ReadTips, async () => {
    const { tips, clock } = await readTips(pool, networks);
    return { tips, clock: rfc3339(clock) };
  });
