import { hostname } from 'node:os';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { ReadChains, type ChainStatus, ReadTips } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { countOpenIncidents } from '../incidents/incident.sql.ts';
import { isAnybodyWaiting } from '../watches/payment.sql.ts';
import { countWatches } from '../watches/watch.sql.ts';
import { readCursor, readTips, type Cursor, type FinalBlock } from './cursor.sql.ts';
import type { NetworkLoop } from './network-loop.ts';
import type { WatchedNetwork } from './term.ts';

type Scanned = WatchedNetwork & { loop: Pick<NetworkLoop, 'isLeading' | 'clockDifference' | 'scanError'> };
type Dependencies = { pool: Pool; networks: readonly Scanned[]; clockDifferenceMs: () => number | null };

/** The process id distinguishes two replicas on one machine. */
const replica = `${hostname()}:${String(process.pid)}`;

/** For every enabled network: how far its scan has come, and the state of its nodes as this replica sees them. */
export const chainsRoute = ({ pool, networks, clockDifferenceMs }: Dependencies): Route =>
  callRoute(ReadChains, () => {
    const differenceMs = clockDifferenceMs();
    const ours = differenceMs === null ? null : differenceMs / 1000;
    return Promise.all(networks.map((watched) => describe(pool, watched, ours)));
  });

/** @param ours this process's clock minus the database's, in seconds. */
async function describe(pool: Pool, { network, endpoints, loop }: Scanned, ours: number | null): Promise<ChainStatus> {
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
    // Negative when no block has been read twice yet.
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

/** Until the first block is scanned, everything except the endpoints' head is null. */
function position(cursor: Cursor | null, endpointHead: number | null) {
  const { tip = null, final = null } = cursor ?? {};
  const timeOf = (block: FinalBlock | null) => block && rfc3339(new Date(block.timestamp * 1000));
  const scanned = tip === null ? null : cursor;
  return {
    head: scanned?.head ?? null,
    endpoint_head: endpointHead,
    finalized: scanned?.finalized ?? null,
    final: final?.number ?? null,
    cursor: tip?.number ?? null,
    cursor_timestamp: timeOf(tip),
    lag_blocks: scanned && tip && Math.max(0, Math.max(scanned.head, endpointHead ?? 0) - tip.number),
    lag_seconds: tip && Math.max(0, Math.round(Date.now() / 1000 - tip.timestamp)),
    scanned_through: timeOf(final),
  };
}

export const tipsRoute = ({ pool, networks }: { pool: Pool; networks: readonly ChainNetwork[] }): Route =>
  callRoute(ReadTips, async () => {
    const { tips, clock } = await readTips(pool, networks);
    return { tips, clock: rfc3339(clock) };
  });
