import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import { readProvenBlock } from '@quittance/chain-reader/chain/proven-block.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { readBlockAt } from '@quittance/chain-reader/rpc/reads.ts';
import type { Tip } from './basics.ts';
import { finding, grouped, type Finding } from './finding.ts';
import { patiently, unlessRefused, type Probe } from './probe.ts';

const CHECK = 'block proof';
/** Rare kinds of transactions are not in each block. Polygon, for example, has those of its bridge in every sixteenth. */
const BLOCKS = 16;

/** A block that its receipts make up. `bySingleReceipts`: it took a call for each transaction. */
type Rebuilt = { block: Block; bySingleReceipts: boolean };

/**
 * Whether the newest final blocks can be made up again from their receipts, so that their hashes prove their transfers. One is enough where
 * the networks file says so already; several are the reason to say so. Without eth_getBlockReceipts one costs enough.
 */
export async function checkProof(probe: Probe, { settled }: Tip): Promise<Finding> {
  const { rpc, network, exchanges } = probe;
  const rebuilt: Rebuilt[] = [];
  for (let back = 0; back < BLOCKS && back <= settled; back += 1) {
    const block = await patiently(() => readBlockAt(rpc, settled - back));
    if (block === null || block.transactions.length === 0) continue;
    const before = exchanges.length;
    const outcome = await unlessRefused(() => readProvenBlock(rpc, block));
    if ('refusal' in outcome) return failedFinding(network, outcome.refusal);
    const methods = exchanges.slice(before).flatMap((exchange) => exchange.methods);
    const singles = methods.filter((method) => method === 'eth_getTransactionReceipt').length;
    const bySingleReceipts = singles >= block.transactions.length;
    rebuilt.push({ block, bySingleReceipts });
    if (network.isProven || bySingleReceipts) break;
  }
  return rebuiltFinding(network, rebuilt);
}

function rebuiltFinding({ isProven }: ChainNetwork, [newest, ...others]: readonly Rebuilt[]): Finding {
  if (newest === undefined) return finding(CHECK, 'unknown', 'no transaction in the newest final blocks');
  const { block, bySingleReceipts } = newest;
  const { length } = block.transactions;
  const first = `block ${block.number} of ${grouped(length)} ${length === 1 ? 'transaction' : 'transactions'}`;
  const found = `${first}${others.length > 0 ? ` and ${others.length} before it` : ''} rebuilt`;
  const cost = `without eth_getBlockReceipts, a block with a transfer costs a call for each transaction: ${grouped(length + 1)} for this one`;
  const meanings = [
    ...(isProven ? [] : ['blocks can be rebuilt: set receipts to proven']),
    ...(bySingleReceipts ? [cost] : []),
  ];
  return meanings.length === 0 ? finding(CHECK, 'ok', found) : finding(CHECK, 'warning', found, meanings.join('; '));
}

function failedFinding({ isProven }: ChainNetwork, { message }: RpcError): Finding {
  if (!isProven) return finding(CHECK, 'unknown', message, 'leave receipts at unproven');
  const meaning = 'with receipts proven, no transfer is read from it; set unproven if all endpoints fail';
  return finding(CHECK, 'failed', message, meaning);
}

/** What it means that nothing can contradict the only endpoint of a network. */
export function checkCompany({ network }: Probe): Finding[] {
  if (network.endpoints.length > 1) return [];
  const meaning = network.isProven
    ? 'it alone says which blocks exist, and can hide transfers; it cannot change a transfer of a real block, or add one'
    : 'it is believed about every transfer, because no other one contradicts it';
  return [finding('endpoints', 'warning', 'this one alone', meaning)];
}
