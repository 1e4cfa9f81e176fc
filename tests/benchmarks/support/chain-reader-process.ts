import { JsonRpcProvider, Network } from 'ethers';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { matchTransfers } from '@quittance/chain-reader/chain/read-blocks.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import { readNetworks, type ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { createWatchSet, type WatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { measureProof, type ProofCost } from './block-proof.ts';
import { networksFile, type Receipts } from './chain-networks.ts';
import { serve, type Forked } from './forked.ts';
import type { Measurement } from './rounds.ts';
import { CHAIN_ID, TOKEN, TRANSFER_TOPIC } from './synthetic-chain.ts';
import { walletAddress } from './synthetic-wallets.ts';

/**
 * Ways to read the token's events of final blocks, in ranges. `raw`: fetch, JSON.parse, count. `quittance`: as chain-watcher, up to
 * the transfers that it would store. `proven`: the same where a block's hash proves those. `ethers`: `JsonRpcProvider.getLogs`.
 */
export type Reader = 'raw' | 'quittance' | 'proven' | 'ethers';

/** Blocks `from` to `to` that all hold `events` transfers, read `range` blocks at a time. */
export type Section = { from: number; to: number; range: number; events: number };

/** `units`: events. */
type Reading = Pick<Measurement, 'units' | 'rate' | 'p50Ms' | 'p99Ms'> & {
  blocks: number;
  matches: number;
  cpuUs: number;
};

/** Reads one range. */
type Read = (from: number, to: number) => Promise<{ events: number; matches: number }>;

let ways: Record<Reader, Read>;
let askForLastBlock: () => Promise<unknown>;
let proveBlock: (number: number, durationMs: number) => Promise<ProofCost>;

/** One process for all readers. */
const handlers = serve({
  /** @param wallets how many it watches. */
  open(url: string, wallets: number) {
    const raw = rawLogs(url);
    const watches = createWatchSet();
    for (let number = 0; number < wallets; number += 1) watches.add(walletAddress(number));
    const asWatcher = (receipts: Receipts) => readAsWatcher({ url, receipts, watches });
    const own = { quittance: asWatcher('unproven'), proven: asWatcher('proven') };
    ways = { raw: readRaw(raw), ...own, ethers: readWithEthers(url) };
    proveBlock = (number, durationMs) => measureProof(url, number, durationMs);
    askForLastBlock = () => raw({ fromBlock: 'latest', toBlock: 'latest' });
  },
  /** Reads the section, once or (with `durationMs`) repeatedly. @throws Error for events that the section does not have. */
  read: (reader: Reader, section: Section, durationMs: number | null) =>
    measured(() => readSection(reader, section, durationMs)),
  /** What it costs to prove this block. @param durationMs how long each step is measured. */
  prove: (number: number, durationMs: number) => proveBlock(number, durationMs),
  /** Asks for the events of the last block `count` times, one after another. */
  roundTrips: (count: number) =>
    measured(async () => {
      const steps: Step[] = [];
      for (let position = 0; position < count; position += 1) {
        const startedAt = performance.now();
        await askForLastBlock();
        steps.push({ ms: performance.now() - startedAt, blocks: 1, events: 0, matches: 0 });
      }
      return steps;
    }),
});
export type ChainReader = Forked<typeof handlers>;

type Step = { ms: number; blocks: number; events: number; matches: number };

async function readSection(reader: Reader, section: Section, durationMs: number | null): Promise<Step[]> {
  const steps: Step[] = [];
  const startedAt = performance.now();
  do {
    for (let from = section.from; from <= section.to; from += section.range) {
      const to = Math.min(section.to, from + section.range - 1);
      const stepAt = performance.now();
      const found = await ways[reader](from, to);
      const blocks = to - from + 1;
      // Plans take turns: the events up to the end of the range, less those before it.
      const upTo = (block: number): number => Math.ceil((block - section.from) * section.events);
      requireSame(reader, found.events, upTo(to + 1) - upTo(from));
      steps.push({ ms: performance.now() - stepAt, blocks, ...found });
      if (durationMs !== null && performance.now() - startedAt >= durationMs) return steps;
    }
  } while (durationMs !== null);
  return steps;
}

/** @throws Error, because the speed of a reader that sees the wrong events says nothing. */
function requireSame(reader: Reader, seen: number, expected: number): void {
  if (seen !== expected) throw new Error(`${reader} saw ${seen} events where there are ${expected}`);
}

async function measured(run: () => Promise<Step[]>): Promise<Reading> {
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  const steps = await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const times = steps.map(({ ms }) => ms).sort((a, b) => a - b);
  const sum = (of: (step: Step) => number): number => steps.reduce((total, step) => total + of(step), 0);
  const units = sum(({ events }) => events);
  return {
    units,
    rate: units / seconds,
    p50Ms: times[Math.floor(times.length * 0.5)] ?? Number.NaN,
    p99Ms: times[Math.floor(times.length * 0.99)] ?? Number.NaN,
    blocks: sum(({ blocks }) => blocks),
    matches: sum(({ matches }) => matches),
    cpuUs: user + system,
  };
}

type Logs = (filter: { fromBlock: string; toBlock: string }) => Promise<unknown[]>;

/** The plainest loop. */
function rawLogs(url: string): Logs {
  return async (filter) => {
    const params = [{ ...filter, address: TOKEN, topics: [TRANSFER_TOPIC] }];
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params }),
    });
    return (JSON.parse(await response.text()) as { result: unknown[] }).result;
  };
}

const readRaw =
  (logs: Logs): Read =>
  async (from, to) => ({ events: (await logs({ fromBlock: hex(from), toBlock: hex(to) })).length, matches: 0 });

function readWithEthers(url: string): Read {
  const network = Network.from(CHAIN_ID);
  const provider = new JsonRpcProvider(url, network, { staticNetwork: network, batchStallTime: 0 });
  return async (fromBlock, toBlock) => {
    const logs = await provider.getLogs({ fromBlock, toBlock, address: TOKEN, topics: [TRANSFER_TOPIC] });
    return { events: logs.length, matches: 0 };
  };
}

/** The service's own parts, composed as in the service. */
function readAsWatcher({ url, receipts, watches }: { url: string; receipts: Receipts; watches: WatchSet }): Read {
  const network = watched(url, receipts);
  const endpoints = createEndpoints({ network, timeoutMs: 10_000, logger: testLogger, metrics: testMetrics });
  return (from, to) =>
    endpoints.ask(async (rpc) => {
      const { entries } = await readRange(rpc, network, from, to, null);
      const transfers = await matchTransfers(rpc, network, entries, watches);
      return { events: entries.reduce((sum, { logs }) => sum + logs.length, 0), matches: transfers.length };
    });
}

function watched(url: string, receipts: Receipts): ChainNetwork {
  const [network] = readNetworks(networksFile({ url, receipts }), {});
  if (network === undefined) throw new Error('the network is switched off');
  return network;
}

const hex = (number: number): string => `0x${number.toString(16)}`;
