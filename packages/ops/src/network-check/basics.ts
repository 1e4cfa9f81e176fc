import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { RpcNode } from '@quittance/chain-reader/rpc/network.ts';
import { followNewHeads } from '@quittance/chain-reader/rpc/new-heads.ts';
import { finalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { MAX_BATCH_REQUESTS } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readBlocksAt, readChainId, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { createLogger } from '@quittance/runtime/logger.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { duration, finding, type Finding } from './finding.ts';
import { patiently, unlessRefused, type Probe } from './probe.ts';

/** What the other checks build on. */
export type Tip = {
  head: Block;
  /** Mean of the newest blocks, seconds. */
  blockSeconds: number;
  /** Height of the last final block as far as we know, or else deep enough to be read by height. */
  settled: number;
};

const BLOCK_TIME_SAMPLE = 100;
/** For a chain so young that its blocks have one time. */
const MIN_BLOCK_SECONDS = 0.05;
/** Where the endpoint names no final block. */
const SETTLED_DEPTH = 64;
const MAX_HEAD_AGE_SECONDS = 60;
/** Clocks that differ by more are an alert of the watcher. */
const MAX_CLOCK_DIFFERENCE_SECONDS = 5;

/** Whether the endpoint answers at all, and for this chain. Nothing else matters before. */
export async function checkChain({ rpc, network }: Probe): Promise<Finding> {
  const expected = network.chain_id;
  try {
    const found = await patiently(() => readChainId(rpc));
    if (found === expected) return finding('chain id', 'ok', String(found));
    return finding('chain id', 'failed', String(found), `this is another chain: ${network.id} has ${expected}`);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return finding('chain id', 'failed', error.message, WHAT_TO_DO[error.kind] ?? 'the endpoint cannot be used');
  }
}

const WHAT_TO_DO: Partial<Record<RpcError['kind'], string>> = {
  refused: 'it wants a key, or another one: in the URL, or as a header',
  unreachable: 'nothing answers there',
  timeout: 'it is too slow, or nothing answers there',
  invalid_answer: 'this is no JSON-RPC endpoint; some providers have it below a path such as /jsonrpc',
  rate_limit: 'the plan is used up, or allows too little even for this',
};

export async function checkHead({ rpc, network }: Probe): Promise<{ tip: Tip; findings: Finding[] }> {
  const head = await patiently(() => readHead(rpc));
  const below = (await patiently(() => readBlockAt(rpc, Math.max(0, head.number - BLOCK_TIME_SAMPLE)))) ?? head;
  const seconds = (head.timestamp - below.timestamp) / Math.max(1, head.number - below.number);
  const blockSeconds = Math.max(MIN_BLOCK_SECONDS, seconds);
  const tagged = await patiently(() => readFinalized(rpc));
  const settled = tagged?.number ?? Math.max(0, head.number - SETTLED_DEPTH);
  return {
    tip: { head, blockSeconds, settled },
    findings: [headFinding(head, blockSeconds), finalityFinding(network, head, tagged)],
  };
}

function headFinding(head: Block, blockSeconds: number): Finding {
  const ageSeconds = Date.now() / 1000 - head.timestamp;
  const found = `block ${head.number}, ${duration(Math.max(0, Math.round(ageSeconds)))} old; a block every ${duration(blockSeconds)}`;
  if (ageSeconds < -MAX_CLOCK_DIFFERENCE_SECONDS)
    return finding('head', 'warning', found, `its time is ${duration(-ageSeconds)} ahead of this machine's clock`);
  if (ageSeconds > Math.max(MAX_HEAD_AGE_SECONDS, 5 * blockSeconds))
    return finding('head', 'warning', found, 'the node is behind, or the chain stands still');
  return finding('head', 'ok', found);
}

function finalityFinding(network: Probe['network'], head: Block, tagged: Block | null): Finding {
  if (tagged !== null && finalityClaim(network, head.number, tagged, true) !== null) {
    const behind = `${head.number - tagged.number} blocks (${duration(head.timestamp - tagged.timestamp)}) behind the head`;
    return finding('finalized', 'ok', behind);
  }
  const { finality, finalized_above_amount: threshold, confirmations_without_finalized: depth } = network;
  const none = tagged === null ? 'it names no final block' : 'it calls its newest block final, which proves nothing';
  if (depth !== undefined)
    return finding('finalized', 'warning', none, `${depth} confirmations stand in, until another endpoint names one`);
  if (finality === 'finalized')
    return finding('finalized', 'failed', none, 'nothing is ever confirmed, unless another endpoint names one');
  return threshold === undefined
    ? finding('finalized', 'ok', `${none}, and nothing here waits for one`)
    : finding('finalized', 'failed', none, `transfers above ${threshold} USDT wait for another endpoint's word`);
}

/** How many calls one request may hold, found by asking for as many headers as the watcher ever does. */
export async function checkBatch({ rpc, exchanges, burst }: Probe, { head }: Tip): Promise<Finding> {
  const count = Math.min(MAX_BATCH_REQUESTS, head.number + 1, burst);
  const heights = Array.from({ length: count }, (_, back) => head.number - back);
  const before = exchanges.length;
  const outcome = await unlessRefused(() => readBlocksAt(rpc, heights));
  if ('refusal' in outcome)
    return finding('batches', 'failed', outcome.refusal.message, 'every look at the chain is a batch of calls');
  const answered = exchanges.slice(before).filter(({ outcome: kind }) => kind === 'ok');
  const size = Math.max(...answered.map(({ methods }) => methods.length));
  if (size >= count) return finding('batches', 'ok', `${size} calls at once`);
  const found = size === 1 ? 'none: one call a request' : `${size} calls at most`;
  return finding('batches', 'warning', found, 'larger batches leave in parts, which takes longer');
}

const WEB_SOCKET = 'WebSocket';
const BLOCKS_WAITED = 4;
const MIN_WAIT_SECONDS = 10;
const MAX_WAIT_SECONDS = 90;

/** Whether the endpoint's WebSocket announces a block within the time of a few. */
export async function checkAnnouncements(networkId: string, node: RpcNode, blockSeconds: number): Promise<Finding> {
  if (node.wsUrl === null) return finding(WEB_SOCKET, 'unknown', 'none is named');
  const waitSeconds = Math.min(MAX_WAIT_SECONDS, Math.max(MIN_WAIT_SECONDS, BLOCKS_WAITED * blockSeconds));
  const startedAt = performance.now();
  const { promise, resolve }: PromiseWithResolvers<boolean> = Promise.withResolvers();
  const deadline = setTimeout(() => resolve(false), 1000 * waitSeconds);
  const following = followNewHeads({
    network: { id: networkId, endpoints: [node] },
    onAnnounced: () => resolve(true),
    logger: createLogger({ service: 'ops', level: 'silent' }),
    metrics: createMetrics({ service: 'ops', processMetrics: false }),
  });
  try {
    if (await promise) {
      const tookSeconds = (performance.now() - startedAt) / 1000;
      return finding(WEB_SOCKET, 'ok', `it announced a block after ${duration(tookSeconds)}`);
    }
    const found = `no block was announced in ${duration(waitSeconds)}`;
    return finding(WEB_SOCKET, 'warning', found, 'leave ws_url out: the chain is polled without it');
  } finally {
    clearTimeout(deadline);
    following.close();
  }
}
