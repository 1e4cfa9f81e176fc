import { planAt, type ProviderNetwork } from './provider-networks.ts';
import { makeBlock, numberOfBlock, placeOfTransaction, type SyntheticLog } from './synthetic-chain.ts';

type Call = { method: string; params: unknown[] };
type Filter = { fromBlock?: string; toBlock?: string; blockHash?: string; address?: string; topics?: Topics };
type Topics = (string | string[] | null)[];
type Shown = { header: string; logs: SyntheticLog[]; receipts: () => string[] };

export type ProviderChain = {
  /** @returns JSON text; null for a method that is not offered. */
  answer(call: Call): string | null;
  /** Milliseconds since 1970 at which this block is there. */
  dueAt(number: number): number;
  /** Height of the newest block. */
  head(): number;
  headerOf(number: number): string;
};

/** The only wallet that anybody waits for, by its number. */
export const PAYEE = 7;

/** A chain whose blocks come by the clock: which ones there are follows from the time alone. @param bornAt when block 0 came. */
export function providerChain(network: ProviderNetwork, bornAt: number): ProviderChain {
  const { blockMs, finalBehindMs, finalStepMs, hasBloom, token, entry } = network;
  const dueAt = (number: number) => bornAt + number * blockMs;
  const face = { token, hasBloom, payee: PAYEE, timestampOf: (number: number) => Math.floor(dueAt(number) / 1000) };
  const heightAt = (time: number) => Math.max(0, Math.floor((time - bornAt) / blockMs));
  const head = () => heightAt(Date.now());
  const finalized = () => heightAt(Math.floor(Date.now() / finalStepMs) * finalStepMs - finalBehindMs);
  const blocks = new Map<number, Shown>();

  function shown(number: number): Shown | null {
    if (!(number >= 0 && number <= head())) return null;
    const known = blocks.get(number);
    if (known !== undefined) return known;
    const { header, logs, receipts } = makeBlock(number, planAt(network, number), face);
    const block = { header, logs, receipts };
    blocks.set(number, block);
    return block;
  }

  function heightOf(tag: string): number {
    if (tag === 'latest') return head();
    return tag === 'finalized' ? finalized() : Number(tag);
  }

  function logs({ fromBlock, toBlock, blockHash, address, topics = [] }: Filter): string {
    const from = blockHash === undefined ? heightOf(fromBlock ?? 'latest') : numberOfBlock(blockHash);
    const to = blockHash === undefined ? Math.min(head(), heightOf(toBlock ?? 'latest')) : from;
    const found: string[] = [];
    for (let number = from; number <= to; number += 1) {
      for (const log of shown(number)?.logs ?? []) if (isWanted(log, address, topics)) found.push(log.json);
    }
    return `[${found.join(',')}]`;
  }

  return {
    dueAt,
    head,
    headerOf: (number) => shown(number)?.header ?? 'null',
    answer({ method, params }) {
      const first = params[0];
      switch (method) {
        case 'eth_chainId':
          return JSON.stringify(`0x${entry.chain_id.toString(16)}`);
        case 'eth_blockNumber':
          return JSON.stringify(`0x${head().toString(16)}`);
        case 'eth_getBlockByNumber':
          return shown(heightOf(String(first)))?.header ?? 'null';
        case 'eth_getBlockByHash':
          return shown(numberOfBlock(String(first)))?.header ?? 'null';
        case 'eth_getLogs':
          return logs(first as Filter);
        case 'eth_getTransactionReceipt': {
          const { number, position } = placeOfTransaction(String(first));
          return shown(number)?.receipts()[position] ?? 'null';
        }
        case 'eth_getBlockReceipts': {
          // As Tron's nodes.
          if (!hasBloom) return null;
          const text = String(first);
          const block = shown(text.length === 66 ? numberOfBlock(text) : heightOf(text));
          return block === null ? 'null' : `[${block.receipts().join(',')}]`;
        }
        default:
          return null;
      }
    },
  };
}

function isWanted(log: SyntheticLog, address: string | undefined, topics: Topics): boolean {
  if (address !== undefined && log.address !== address.toLowerCase()) return false;
  return topics.every((wanted, position) => wanted === null || [wanted].flat().includes(log.topics[position] ?? ''));
}
