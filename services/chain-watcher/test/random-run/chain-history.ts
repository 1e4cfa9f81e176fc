/** A block as the node showed it, with the receipts of its transactions. */
export type Block = { number: string; hash: string; parentHash: string; timestamp: string } & Record<string, unknown>;
export type Receipt = {
  transactionHash: string;
  blockHash: string;
  status: string;
  logs: Log[];
} & Record<string, unknown>;
export type Log = {
  address: string;
  topics: string[];
  data: string;
  blockHash: string;
  blockNumber: string;
  transactionHash: string;
  logIndex: string;
} & Record<string, unknown>;

type Recorded = {
  block: Block;
  receipts: Receipt[];
  /** Height of the highest head of a chain that contained this block. */
  tallest: number;
  isOrphaned: boolean;
  everOrphaned: boolean;
};

/** Hashes of a chain by height. */
export type View = readonly string[];

/** Every block that ever existed, on any fork, and the chain at each of the latest steps. The block maker records it. */
export type ChainHistory = {
  /** Records that the chain now has exactly these blocks above `ancestor`. */
  record(ancestor: number, blocks: { block: Block; receipts: Receipt[] }[]): void;
  find(hash: string): Recorded | undefined;
  /** The chain as it was this many steps ago. */
  view(stepsAgo: number): View;
  head(): Block;
  all(): Iterable<Recorded>;
};

const KEPT_VIEWS = 40;
/** Far deeper than any reorg of the run: blocks below no longer change. */
const RECENT_BLOCKS = 200;

export function createChainHistory(): ChainHistory {
  const blocks = new Map<string, Recorded>();
  const views: string[][] = [[]];

  const current = (): string[] => views.at(-1)!;
  const find = (hash: string): Recorded | undefined => blocks.get(hash);

  return {
    find,
    all: () => blocks.values(),
    view: (stepsAgo) => views.at(-1 - Math.min(stepsAgo, views.length - 1))!,
    head: () => find(current().at(-1)!)!.block,
    record(ancestor, added) {
      for (const hash of current().slice(ancestor + 1))
        Object.assign(find(hash)!, { isOrphaned: true, everOrphaned: true });
      const next = current().slice(0, ancestor + 1);
      for (const { block, receipts } of added) {
        // An orphaned block may be back.
        const before = find(block.hash);
        const { everOrphaned = false, tallest = 0 } = before ?? {};
        blocks.set(block.hash, { block, receipts, isOrphaned: false, everOrphaned, tallest });
        next.push(block.hash);
      }
      const head = next.length - 1;
      for (const hash of next.slice(-RECENT_BLOCKS)) find(hash)!.tallest = Math.max(find(hash)!.tallest, head);
      views.push(next);
      if (views.length > KEPT_VIEWS) views.shift();
    },
  };
}
