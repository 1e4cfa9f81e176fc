import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import { type RpcError, isTooMuch, suggestedBlocks } from '@quittance/chain-reader/rpc/errors.ts';
import { findReceipt, readBlockAt, readLogsOfBlock, readLogsOfRange } from '@quittance/chain-reader/rpc/reads.ts';
import { readLogsByHash } from '@quittance/chain-reader/chain/read-blocks.ts';
import { readRange } from '@quittance/chain-reader/chain/read-range.ts';
import { transferFilter } from '@quittance/chain-reader/chain/transfers.ts';
import type { Tip } from './basics.ts';
import { finding, grouped, type Finding } from './finding.ts';
import { patiently, unlessRefused, type Probe } from './probe.ts';

const BUSY_BLOCK_SEARCH = 16;
/** Read with every proof that the watcher demands. */
const PROVED_BLOCKS = 16;
/** So many the watcher reads at once where ranges are refused. */
const BLOCKS_BY_RECEIPTS = 8;

/** Of two questions the same is asked: what a block holds. Without either, its transfers cannot be seen. */
export async function checkBlockEvents(probe: Probe, { head }: Tip): Promise<Finding[]> {
  const { rpc, network } = probe;
  const block = await busyBlock(probe, head);
  const logs = await unlessRefused(() => readLogsOfBlock(rpc, block.hash, transferFilter(network, null), false));
  const receipts = await checkReceipts(probe, block);
  const read = await unlessRefused(() => readLogsByHash(rpc, network, [block]));
  const asked = network.family === 'tron' ? 'events of a block, unfiltered' : 'events of a block';
  const transactions = block.transactions.length;
  if ('refusal' in read)
    return [
      finding(asked, 'failed', read.refusal.message, 'transfers cannot be read from this endpoint'),
      receipts.finding,
    ];
  if ('answer' in logs)
    return [finding(asked, 'ok', `${logs.answer.length} in block ${block.number}`), receipts.finding];
  const cost = receipts.ofBlock ? 'one large call a block' : `a call a transaction: ${transactions} for this block`;
  return [
    finding(asked, 'warning', logs.refusal.message, `blocks are read by their receipts, ${cost}`),
    receipts.finding,
  ];
}

/** One of the newest blocks with transactions, else the newest but two: behind a balancer another node may lack the newest. */
async function busyBlock({ rpc }: Probe, head: Block): Promise<Block> {
  let found = head;
  for (let back = 2; back < BUSY_BLOCK_SEARCH && head.number >= back; back += 1) {
    found = (await patiently(() => readBlockAt(rpc, head.number - back))) ?? found;
    if (found.transactions.length > 0) return found;
  }
  return found;
}

async function checkReceipts({ rpc }: Probe, block: Block): Promise<{ finding: Finding; ofBlock: boolean }> {
  const [hash] = block.transactions;
  if (hash === undefined)
    return { finding: finding('receipts', 'unknown', 'no transaction in the newest blocks'), ofBlock: false };
  const single = await unlessRefused(() => findReceipt(rpc, hash));
  const whole = await unlessRefused(() => rpc.send('eth_getBlockReceipts', [block.hash]));
  const ofBlock = 'answer' in whole && Array.isArray(whole.answer) && whole.answer.length > 0;
  const found = ofBlock ? 'single, and of a whole block' : 'single';
  if ('answer' in single && single.answer?.blockHash === block.hash)
    return { finding: finding('receipts', 'ok', found), ofBlock };
  const why = 'refusal' in single ? single.refusal.message : 'none for a transaction of a block that it has';
  return { finding: finding('receipts', 'failed', why, 'every transfer is checked against its receipt'), ofBlock };
}

export type Ranges = {
  findings: Finding[];
  /** The most blocks that it answers at once, where that is less than the entry asks for; else null. */
  maxBlockRange: number | null;
  /** So many final blocks can be read with every proof in one go; 0 for none. */
  provedBlocks: number;
};

/** The largest range of final blocks whose transfers it returns at once, and whether a small one proves itself. */
export async function checkRanges(probe: Probe, tip: Tip): Promise<Ranges> {
  const { rpc, network } = probe;
  const { settled } = tip;
  const wanted = Math.min(network.max_block_range, settled + 1);
  const largest = await largestRange(wanted, async (blocks) => {
    const from = settled - blocks + 1;
    return (await readLogsOfRange(rpc, from, settled, transferFilter(network, null))).length;
  });
  const proof = await proveRange(probe, tip, PROVED_BLOCKS);
  if ('refusal' in largest)
    return {
      ...proof,
      findings: [
        finding('ranges', 'warning', largest.refusal.message, 'after an outage, eight blocks are read at a time'),
        proof.finding,
      ],
      maxBlockRange: null,
    };
  const isLess = largest.blocks < wanted;
  const found = `${grouped(largest.blocks)} blocks at once, with ${grouped(largest.events)} events`;
  const meaning = isLess ? 'the watcher finds this out as well; the entry below has it' : null;
  return {
    ...proof,
    findings: [finding('ranges', isLess ? 'warning' : 'ok', found, meaning), proof.finding],
    maxBlockRange: isLess ? largest.blocks : null,
  };
}

/** Reads the newest final blocks as strictly as the watcher. */
async function proveRange(probe: Probe, tip: Tip, blocks: number): Promise<{ finding: Finding; provedBlocks: number }> {
  const count = Math.min(blocks, tip.settled + 1);
  const from = tip.settled - count + 1;
  const outcome = await unlessRefused(() => readRange(probe.rpc, probe.network, from, tip.settled, null));
  if ('answer' in outcome) {
    const found = 'the newest final blocks account for their headers and receipts';
    return { finding: finding('completeness', 'ok', found), provedBlocks: count };
  }
  if (isTooMuch(outcome.refusal) && blocks > BLOCKS_BY_RECEIPTS) return proveRange(probe, tip, BLOCKS_BY_RECEIPTS);
  const meaning = 'what it returns is not all there is';
  return { finding: finding('completeness', 'failed', outcome.refusal.message, meaning), provedBlocks: 0 };
}

async function largestRange(
  wanted: number,
  read: (blocks: number) => Promise<number>,
): Promise<{ blocks: number; events: number } | { refusal: RpcError }> {
  for (let blocks = wanted; ;) {
    const outcome = await unlessRefused(() => read(blocks));
    if ('answer' in outcome) return { blocks, events: outcome.answer };
    if (!isTooMuch(outcome.refusal) || blocks === 1) return outcome;
    const suggested = suggestedBlocks(outcome.refusal.suggested);
    blocks = suggested !== null && suggested < blocks ? suggested : Math.floor(blocks / 2);
  }
}
