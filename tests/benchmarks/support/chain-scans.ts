import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ChainNode } from './chain-node-process.ts';
import { CONFIRMATIONS, NETWORK, RANGE } from './chain-networks.ts';
import type { ChainReader, Section } from './chain-reader-process.ts';
import { cpuUsOf, cpuUsOfFamily } from './cpu.ts';
import { withCpu, type CpuCounters } from './measure.ts';
import { postmasterOf } from './postgres.ts';
import type { Contender, Measurement } from './rounds.ts';
import type { BlockPlan } from './synthetic-chain.ts';

/** The blocks of a scan, whose plans take turns. */
export type Stretch = { blocks: number; plans: readonly BlockPlan[]; range: number };

/**
 * A full block of Ethereum: this many transfers of USDT, and some of other tokens. Not a round number, because the service asks again
 * when an answer has a round number of events: it may be cut off.
 */
export const busy: BlockPlan = { events: 151, matches: 0, others: 20 };
const allMatch: BlockPlan = { ...busy, matches: busy.events };
/** A small chain: one block in three has a transfer, and all have other events. */
const quiet: readonly BlockPlan[] = [1, 0, 0].map((events) => ({ events, matches: 0, others: 20 }));

/** @param share 1 for a measurement, less for a smoke run. */
export const stretchesOf = (share: number) =>
  ({
    busy: { blocks: 600 * share, plans: [busy], range: RANGE },
    quiet: { blocks: 900 * share, plans: quiet, range: RANGE },
    matching: { blocks: 100 * share, plans: [allMatch], range: RANGE },
  }) satisfies Record<string, Stretch>;

/** A unit of work; and whether a scan ends with the last commit of a block, or when every final transfer is confirmed. */
export type ScanOf = { unit: 'events' | 'blocks'; until: 'stored' | 'confirmed' };

export type Scans = {
  /** The service's process. */
  contender(name: string, stretch: Stretch, of: ScanOf): Contender;
  /** A plain loop over the stretch that the service scanned last. */
  raw(unit: ScanOf['unit']): Contender;
  close(): Promise<void>;
};

/** Longer than any stretch takes on a slow and busy machine. */
const PATIENCE_MS = 600_000;
const LOOK_EVERY_MS = 5;

/** Lets the service scan one stretch after another, and measures the time until the last block is committed. */
export async function startScans(options: {
  node: ChainNode;
  reader: ChainReader;
  watcherPid: number;
  adminUrl: string;
}): Promise<Scans> {
  const { node, reader, adminUrl } = options;
  const db = new pg.Client({ connectionString: adminUrl });
  await db.connect();
  const postmaster = await postmasterOf(adminUrl);
  const counters: CpuCounters = {
    'chain-watcher': () => cpuUsOf(options.watcherPid),
    postgres: () => cpuUsOfFamily(postmaster),
    node: () => cpuUsOf(node.pid),
  };
  let last: Section | null = null;

  async function scan(
    stretch: Stretch,
    until: ScanOf['until'],
  ): Promise<{ section: Section; seconds: number; cpuUs: Measurement['cpuUs'] }> {
    const { blocks: count, plans } = stretch;
    const before = await node.ask(
      'make',
      count,
      plans,
      plans.some(({ matches }) => matches > 1),
    );
    await untilScanned(db, before);
    await node.ask('forget', before - count);
    const { result: seconds, cpuUs } = await withCpu(counters, async () => {
      // The service does not trust a node whose newest block is final.
      const { head } = await node.ask('show', 1);
      const storedAt = await untilScanned(db, head);
      const endedAt = until === 'confirmed' ? await untilConfirmed(db, head) : storedAt;
      // The wait for the poll is not part of the scan.
      return (endedAt - (await node.ask('firstLook'))) / 1000;
    });
    const events = plans.reduce((sum, plan) => sum + plan.events, 0) / plans.length;
    const section = { from: before + 1, to: before + count, range: stretch.range, events };
    await requireStored(db, section, plans);
    await untilConfirmed(db, section.to);
    await db.query('truncate chain.outbox');
    last = section;
    return { section, seconds, cpuUs };
  }

  return {
    contender: (name, stretch, { unit, until }) => ({
      name,
      measure: async () => {
        const { section, seconds, cpuUs } = await scan(stretch, until);
        const units = (section.to - section.from + 1) * (unit === 'events' ? section.events : 1);
        return { units, rate: units / seconds, p50Ms: Number.NaN, p99Ms: Number.NaN, cpuUs };
      },
    }),
    raw: (unit) => ({
      name: 'raw',
      measure: async () => {
        if (last === null) throw new Error('nothing was scanned yet');
        const reading = await reader.ask('read', 'raw', last, null);
        const units = unit === 'events' ? reading.units : reading.blocks;
        const rate = (reading.rate * units) / reading.units;
        return { ...reading, units, rate, cpuUs: { raw: reading.cpuUs } };
      },
    }),
    close: () => db.end(),
  };
}

/** @returns when the cursor was seen there, in milliseconds since 1970. */
const untilScanned = (db: pg.Client, head: number): Promise<number> =>
  untilTrue(db, `block ${head} was not scanned`, {
    ...{ name: 'cursor', text: 'select number >= $1 as done from chain.cursor', values: [head] },
  });

/** As untilScanned(), for the confirmation of every transfer that this head confirms. */
const untilConfirmed = (db: pg.Client, head: number): Promise<number> =>
  untilTrue(db, `a transfer was not confirmed at block ${head}`, {
    name: 'confirmed',
    text: `select not exists (
             select from chain.transfer where network = $1 and phase = 'seen' and block_number <= $2) as done`,
    values: [NETWORK, head - CONFIRMATIONS + 1],
  });

async function untilTrue(db: pg.Client, otherwise: string, query: pg.QueryConfig): Promise<number> {
  const deadline = performance.now() + PATIENCE_MS;
  while (performance.now() < deadline) {
    const { rows } = await db.query<{ done: boolean | null }>(query);
    if (rows[0]?.done === true) return performance.timeOrigin + performance.now();
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`${otherwise} within ${PATIENCE_MS / 1000} s`);
}

/** @throws Error when the service did not store exactly the matching events. */
async function requireStored(db: pg.Client, { from, to }: Section, plans: readonly BlockPlan[]): Promise<void> {
  const expected = ((to - from + 1) * plans.reduce((sum, { matches }) => sum + matches, 0)) / plans.length;
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::integer as count from chain.transfer where block_number between $1 and $2',
    [from, to],
  );
  if (rows[0]?.count !== expected) {
    throw new Error(`${rows[0]?.count ?? 0} transfers of ${expected} were stored in the blocks ${from} to ${to}`);
  }
}
