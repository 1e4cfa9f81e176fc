import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { insertBlocks, pruneBlocksBelow } from '../../store/blocks.ts';
import { Fenced, moveCursor } from '../../store/cursor.ts';
import { heightsAfter, type WritablePosition } from '../../term/position.ts';
import type { Term } from '../../term/term.ts';
import { reportDeprecation } from '../../token/deprecation.ts';
import { recordTransfers, storeTransfers } from '../../transfers/publish.ts';
import { createForkHandler, type FollowResult } from './fork-handler.ts';
import { explainMissingHistory } from './missing-history.ts';
import { createPoller } from './poller.ts';

/** Final blocks kept beyond what reorgs can need: to show where a fork is, and to date late watches cheaply. */
const KEPT_FINAL_BLOCKS = 256;
const PRUNE_EVERY_BLOCKS = 64;

type FollowOptions = {
  /** Whether an operator has allowed to follow the nodes below the finalized block, once. */
  mayAcceptFork: boolean;
  /** The blocks up to this height were read from this endpoint. */
  onRead: (through: number, endpoint: number) => void;
  /** The blocks above this height are gone. */
  onRewind: (number: number) => void;
};

/** Follows the chain's head. The only job that moves the position. */
export function createFollowJob(term: Term, position: WritablePosition, options: FollowOptions) {
  const { chain } = position;
  const forks = createForkHandler(term, position, options);
  const poller = createPoller(term, position, forks.mayAcceptFork);

  async function pollOnce(): Promise<FollowResult> {
    const result = await poller.poll().catch((error: unknown) => {
      throw explainMissingHistory(error, term.network.id, position);
    });
    if (result.kind === 'ask_for_less') return 'more';
    if (result.kind === 'needs_catch_up') {
      position.set({ ...position.heights(), head: result.head });
      return 'more';
    }
    if (!term.isLeading()) throw new Fenced(`${term.network.id}: the lead was lost while reading`);
    position.set({ ...position.heights(), head: result.head });
    if (result.kind === 'blocks') return storeBlocks(result);
    return result.kind === 'fork' ? forks.handle(result.fork) : 'at_head';
  }

  /** Commits blocks, transfers, messages and cursor together: after a crash either all of it happened or none. */
  async function storeBlocks(result: Extract<PollResult, { kind: 'blocks' }>): Promise<FollowResult> {
    const { network, pool, epoch } = term;
    const tip = result.blocksToStore.at(-1);
    if (tip === undefined) return 'at_head';
    const before = chain.tip().number;
    const heights = heightsAfter(network, position.heights(), chain, result, tip);
    const prune = Math.floor(tip.number / PRUNE_EVERY_BLOCKS) > Math.floor(before / PRUNE_EVERY_BLOCKS);
    const keepFrom = Math.min(heights.finalized, heights.finalHeight) - KEPT_FINAL_BLOCKS;
    faultPoint('blocks-read');
    const { published } = await transaction(pool, async (tx) => {
      await moveCursor(tx, { network: network.id, epoch, tip, ...heights });
      await insertBlocks(tx, network.id, result.blocksToStore);
      const stored = await storeTransfers(tx, term, result.transfers, heights);
      if (result.deprecation !== null) await reportDeprecation(tx, term, result.deprecation);
      if (prune) await pruneBlocksBelow(tx, network.id, keepFrom);
      faultPoint('blocks-written');
      return stored;
    });
    faultPoint('blocks-committed');
    chain.append(result.blocksToStore);
    if (prune) chain.prune(keepFrom);
    position.set(heights);
    term.metrics.blocksScanned.inc({ network: network.id }, tip.number - before);
    recordTransfers(term, published);
    return tip.number < result.head ? 'more' : 'at_head';
  }

  return {
    clockDifference: poller.clockDifference,
    /** Polls the chain once and stores what it shows. */
    async run(): Promise<FollowResult> {
      const before = chain.tip().number;
      const result = await pollOnce();
      const tip = chain.tip().number;
      options.onRead(tip, poller.lastEndpoint());
      if (tip > before) await forks.dropPermission();
      return result;
    },
  };
}
