import { JsonRpcProvider, Network } from 'ethers';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { matchTransfers } from '@quittance/chain-reader/chain/read-blocks.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import { readNetworks, type ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { createEndpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { createWatchSet } from '@quittance/chain-reader/chain/watch-set.ts';
import { networksFile } from './chain-networks.ts';
import type { Reader, ReaderOrder, Reading } from './chain-reader.ts';
import { serve } from './orders.ts';
import { CHAIN_ID, TOKEN, TRANSFER_TOPIC } from './synthetic-chain.ts';
import { walletAddress } from './synthetic-wallets.ts';

/** Reads one range. */
type Read = (from: number, to: number) => Promise<{ events: number; matches: number }>;

let ways: Record<Reader, Read> | null = null;
let askForLastBlock: (() => Promise<unknown>) | null = null;

serve<ReaderOrder, Reading>(async (order) => {
  if (order.kind === 'open') {
    const raw = rawLogs(order.url);
    ways = { raw: readRaw(raw), quittance: readAsWatcher(order), ethers: readWithEthers(order.url) };
    askForLastBlock = () => raw({ fromBlock: 'latest', toBlock: 'latest' });
    return measured(async () => []);
  }
  if (ways === null || askForLastBlock === null) throw new Error('nothing is open');
  if (order.kind === 'round-trips') return roundTrips(askForLastBlock, order.count);
  return measured(() => readSection(ways![order.reader], order));
});

type Step = { ms: number; blocks: number; events: number; matches: number };

async function readSection(read: Read, { section, durationMs, reader }: Extract<ReaderOrder, { kind: 'read' }>) {
  const steps: Step[] = [];
  const startedAt = performance.now();
  do {
    for (let from = section.from; from <= section.to; from += section.range) {
      const to = Math.min(section.to, from + section.range - 1);
      const stepAt = performance.now();
      const found = await read(from, to);
      const blocks = to - from + 1;
      // What plans that take turns add up to, up to this block less what they add up to before.
      const upTo = (block: number): number => Math.ceil((block - section.from) * section.events);
      requireSame(reader, found.events, upTo(to + 1) - upTo(from));
      steps.push({ ms: performance.now() - stepAt, blocks, ...found });
      if (durationMs !== null && performance.now() - startedAt >= durationMs) return steps;
    }
  } while (durationMs !== null);
  return steps;
}

/** @throws Error: a reader that sees other events than there are is not faster or slower than another one. */
function requireSame(reader: Reader, seen: number, expected: number): void {
  if (seen !== expected) throw new Error(`${reader} saw ${seen} events where there are ${expected}`);
}

async function roundTrips(ask: () => Promise<unknown>, count: number): Promise<Reading> {
  return measured(async () => {
    const steps: Step[] = [];
    for (let position = 0; position < count; position += 1) {
      const startedAt = performance.now();
      await ask();
      steps.push({ ms: performance.now() - startedAt, blocks: 1, events: 0, matches: 0 });
    }
    return steps;
  });
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

/** What anybody would write first. */
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

/** The service's own parts as it composes them. */
function readAsWatcher({ url, wallets }: { url: string; wallets: number }): Read {
  const network = watched(url);
  const endpoints = createEndpoints({ network, timeoutMs: 10_000, logger: testLogger, metrics: testMetrics });
  const watches = createWatchSet();
  for (let number = 0; number < wallets; number += 1) watches.add(walletAddress(number));
  return (from, to) =>
    endpoints.ask(async (rpc) => {
      const { entries } = await readRange(rpc, network, from, to, null);
      const transfers = await matchTransfers(rpc, network, entries, watches);
      return { events: entries.reduce((sum, { logs }) => sum + logs.length, 0), matches: transfers.length };
    });
}

function watched(url: string): ChainNetwork {
  const [network] = readNetworks(networksFile({ url }), {});
  if (network === undefined) throw new Error('the network is switched off');
  return network;
}

const hex = (number: number): string => `0x${number.toString(16)}`;
