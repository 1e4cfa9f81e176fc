import { readFileSync } from 'node:fs';
import { parseAddress } from '@quittance/contracts/address.ts';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { gatherEvidence } from '@quittance/chain-reader/chain/verify.ts';
import { readLogsByHash } from '@quittance/chain-reader/chain/read-blocks.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { findReceipt, readBlockAt } from '@quittance/chain-reader/rpc/reads.ts';
import type { Tip } from './basics.ts';
import { duration, finding, grouped, type Finding } from './finding.ts';
import { unlessRefused, type Probe } from './probe.ts';

/** Blocks below the head that are tried, one after the other. */
const DEPTHS = [128, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
/** An outage over a weekend. */
const ENOUGH_SECONDS = 3 * 86_400;

/** How far back blocks can still be read with everything in them: that long may the watcher be away. */
export async function checkHistory({ rpc, network }: Probe, { head, blockSeconds }: Tip): Promise<Finding> {
  let deepest = 0;
  for (const depth of DEPTHS.filter((blocks) => blocks < head.number)) {
    if (!(await isReadable(depth))) {
      const age = deepest * blockSeconds;
      const found = deepest === 0 ? `less than ${DEPTHS[0]} blocks` : `${grouped(deepest)} blocks (${duration(age)})`;
      const limit = `not ${grouped(depth)} (${duration(depth * blockSeconds)})`;
      const meaning = 'after a longer outage than that, this endpoint cannot show what came meanwhile';
      return finding('history', age < ENOUGH_SECONDS ? 'warning' : 'ok', `${found}, ${limit}`, meaning);
    }
    deepest = depth;
  }
  const age = duration(deepest * blockSeconds);
  return finding('history', 'ok', deepest === 0 ? 'a young chain' : `at least ${grouped(deepest)} blocks (${age})`);

  async function isReadable(depth: number): Promise<boolean> {
    const outcome = await unlessRefused(async () => {
      const block = await busyBlockBelow(rpc, head.number - depth);
      const [transaction] = block?.transactions ?? [];
      if (block === null) return false;
      if (transaction !== undefined && (await findReceipt(rpc, transaction))?.blockHash !== block.hash) return false;
      return (await readLogsByHash(rpc, network, [block])).length === 1;
    });
    return 'answer' in outcome && outcome.answer;
  }
}

const BUSY_BLOCK_SEARCH = 8;

/** Nodes that prune keep headers longer than receipts, which show in a block with transactions only. */
async function busyBlockBelow(rpc: RpcProvider, height: number): Promise<Block | null> {
  let block = await readBlockAt(rpc, height);
  for (let below = 1; below < BUSY_BLOCK_SEARCH && block?.transactions.length === 0; below += 1)
    block = (await readBlockAt(rpc, Math.max(0, height - below))) ?? block;
  return block;
}

/** A transfer that is known from a public source. */
export type KnownTransfer = {
  chain_id: number;
  usdt_contract: string;
  /** 64 lowercase hex characters, no 0x. */
  transaction_id: string;
  transaction_event_index: number;
  /** In the network's own spelling. */
  from: string;
  to: string;
  /** Base units of the token, decimal text. */
  amount_units: string;
  block_number: number;
  /** Unix seconds; null where the source does not have it. */
  block_time: number | null;
  source: string;
};

/** @returns null where none of this chain's token is known. */
export function knownTransferOf(network: Pick<Network, 'chain_id' | 'usdt_contract'>): KnownTransfer | null {
  const file = new URL('known-transfers.json', import.meta.url);
  const all = JSON.parse(readFileSync(file, 'utf8')) as KnownTransfer[];
  const isOf = ({ chain_id: chainId, usdt_contract: contract }: KnownTransfer) =>
    chainId === network.chain_id && parseAddress(contract)?.hex === parseAddress(network.usdt_contract)?.hex;
  return all.find(isOf) ?? null;
}

/** Whether a transfer of long ago is read back exactly as the public source has it. */
export async function checkKnownTransfer({ rpc, network }: Probe, known: KnownTransfer | null): Promise<Finding> {
  const check = 'a known transfer';
  if (known === null) return finding(check, 'unknown', 'this command knows none of this network');
  const event = {
    transactionId: known.transaction_id,
    transactionEventIndex: known.transaction_event_index,
  };
  const outcome = await unlessRefused(() => gatherEvidence(rpc, network, event, true));
  if ('refusal' in outcome) return finding(check, 'warning', outcome.refusal.message, 'it may lack old blocks');
  const { answer } = outcome;
  const name = `transaction ${known.transaction_id.slice(0, 8)}…, event ${event.transactionEventIndex}`;
  if (answer.kind === 'absent')
    return answer.reason === 'no_receipt'
      ? finding(check, 'warning', `${name}: no receipt`, 'receipts of old blocks are not kept')
      : finding(check, 'failed', `${name}: ${answer.reason}`, `not as in ${known.source}`);
  const { transfer } = answer;
  const isSame =
    transfer.from === parseAddress(known.from)?.hex &&
    transfer.to === parseAddress(known.to)?.hex &&
    transfer.amountUnits === BigInt(known.amount_units) &&
    transfer.blockNumber === known.block_number &&
    (known.block_time === null || transfer.blockTimestamp === known.block_time);
  if (!isSame) return finding(check, 'failed', `${name}: other values`, `not as in ${known.source}`);
  const amount = formatUnits(transfer.amountUnits, network.decimals);
  return finding(check, 'ok', `${amount} USDT in block ${known.block_number}, exactly`);
}
