import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';
import type { Measurement } from './rounds.ts';

/**
 * Ways to read the token's events of final blocks, in ranges. `raw`: fetch, JSON.parse, count. `quittance`: as chain-watcher does, up to
 * the transfers that it would store. `ethers`: `JsonRpcProvider.getLogs`.
 */
export const readers = ['raw', 'quittance', 'ethers'] as const;
export type Reader = (typeof readers)[number];

/** Blocks `from` to `to` that all hold `events` transfers, asked for `range` blocks at a time. */
export type Section = { from: number; to: number; range: number; events: number };

export type ReaderOrder =
  | { kind: 'open'; url: string; wallets: number }
  /** Reads the section, once or (with `durationMs`) over and over, and refuses whatever differs from what the section says. */
  | { kind: 'read'; reader: Reader; section: Section; durationMs: number | null }
  /** Asks for the events of the last block `count` times, one after another. */
  | { kind: 'round-trips'; count: number };

/** `units`: events. */
export type Reading = Pick<Measurement, 'units' | 'rate' | 'p50Ms' | 'p99Ms'> & {
  blocks: number;
  matches: number;
  cpuUs: number;
};

export type ChainReader = {
  read(reader: Reader, section: Section, durationMs?: number): Promise<Reading>;
  roundTrips(count: number): Promise<Reading>;
  close(): Promise<void>;
};

/** One process for all readers. @param wallets how many it watches. */
export async function startChainReader(url: string, wallets: number): Promise<ChainReader> {
  const child = fork(fileURLToPath(new URL('chain-reader-process.ts', import.meta.url)));
  const { ask, close } = orders<ReaderOrder, Reading>(child, 'the reader');
  await ask({ kind: 'open', url, wallets });
  return {
    read: (reader, section, durationMs) => ask({ kind: 'read', reader, section, durationMs: durationMs ?? null }),
    roundTrips: (count) => ask({ kind: 'round-trips', count }),
    close,
  };
}
