/** A block as the node told it, with the receipts of its transactions. */
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
  /** Height of the highest head that this block was ever below, or at. */
  tallest: number;
  isOrphaned: boolean;
  everOrphaned: boolean;
};

/** Hashes of a chain by height. */
export type View = readonly string[];

/** Every block that there ever was, on whatever fork, and what the chain was at each of the latest steps. Made by whoever makes the blocks. */
export type ChainHistory = {
  /** Notes that the chain now has these blocks above `ancestor`, and none beyond. */
  record(ancestor: number, blocks: { block: Block; receipts: Receipt[] }[]): void;
  find(hash: string): Recorded | undefined;
  /** The chain as it was so many steps ago. */
  view(stepsAgo: number): View;
  head(): Block;
  all(): Iterable<Recorded>;
};

const KEPT_VIEWS = 40;
/** Far deeper than any reorganisation of the run: what lies below no longer changes. */
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
        // A block that had been orphaned may be back.
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
