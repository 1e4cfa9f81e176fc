import { finalityClaim, type FinalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import type { ChainNetwork } from '@quittance/chain-reader/chain/networks.ts';
import type { PollResult } from '@quittance/chain-reader/chain/poll.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import type { Endpoints } from '@quittance/chain-reader/rpc/endpoints.ts';
import { nullIfFailed } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import type { ChainView, Position, Term } from '../leadership/term.ts';
import { isFinalityAwaited } from '../transfers/transfer.sql.ts';

/** On a steady chain, one in this many looks that find blocks, or are made while a transfer waits, asks for the final block. */
const ASK_EVERY = 5;

/** Blocks that the next look may bring. A transfer that lacks at most this many confirmations may have them all then. */
const NEXT_BLOCKS = 5;

export type FinalityQuestion = {
  /** Whether to ask when there are new blocks. */
  asksFinality: boolean;
  /** Whether to ask when there are none. */
  asksFinalityAtTip: boolean;
  /** Whether a transfer waits for the final block, or will soon wait for nothing else. */
  isAwaited: boolean;
};

/** Decides whether the next look asks for the final block. */
export function createFinalityQuestion(
  { pool, network }: Pick<Term, 'pool' | 'network'>,
  { chain, heights }: Position,
  isSteady: () => boolean,
) {
  let looks = ASK_EVERY;
  return {
    async next(): Promise<FinalityQuestion> {
      const through = chain.tip().number + NEXT_BLOCKS - network.confirmations + 1;
      const isAwaited = await isFinalityAwaited(pool, network, { after: heights().finalized, through });
      // When only large transfers wait for it, they wait for minutes.
      const isTurn = looks + 1 >= ASK_EVERY || (isAwaited && network.finality === 'finalized');
      return { asksFinality: isTurn || !isSteady(), asksFinalityAtTip: isTurn && isAwaited, isAwaited };
    },
    onLook({ asksFinality, asksFinalityAtTip, isAwaited }: FinalityQuestion, foundBlocks: boolean): void {
      const wasAsked = foundBlocks ? asksFinality : asksFinalityAtTip;
      if (wasAsked) looks = 0;
      else if (foundBlocks || isAwaited) looks += 1;
    },
  };
}

/** Polls after which an unchanged final block is doubted: one or two minutes. On Ethereum it changes every six. */
const PATIENCE_POLLS = 120;

/** Asks the other endpoints when the current one names no final block, or the same one for too long. */
export function createFinalityCheck(
  { endpoints, network }: { endpoints: Endpoints; network: ChainNetwork },
  { chain, heights }: Position,
) {
  const patienceMs = PATIENCE_POLLS * network.poll_interval_ms;
  /** When an unchanged final block is doubted, in monotonic milliseconds. */
  let doubtFrom = performance.now() + patienceMs;

  return {
    /** @returns the last final block; null for no news. */
    async check(
      rpc: RpcProvider,
      result: Extract<PollResult, { kind: 'blocks' | 'no_new_blocks' }>,
    ): Promise<FinalityClaim | null> {
      const said = result.finalized;
      const blocks = result.kind === 'blocks' ? result.blocksToStore : [];
      if (said !== null && said.height > heights().finalized) doubtFrom = performance.now() + patienceMs;
      if (said !== null && performance.now() < doubtFrom) return said;
      const others = await finalityOfOthers({ endpoints, network }, rpc, chain, blocks);
      const isBehind = others !== null && others.height > (said?.height ?? -1);
      // While the others are ahead, they are asked at every block.
      doubtFrom = isBehind ? 0 : performance.now() + patienceMs;
      return isBehind ? others : said;
    },
  };
}

/**
 * Asks the other endpoints for the final block, because the current one names no new one. That one may just have started, or be cut off from
 * the others, or never name one. An answer counts only up to a block of our chain that the other endpoint has, too.
 * @returns null when none of them names one, or none of them answers.
 */
async function finalityOfOthers(
  { endpoints, network }: { endpoints: Endpoints; network: ChainNetwork },
  { endpoint }: RpcProvider,
  chain: ChainView,
  blocks: readonly Block[],
): Promise<FinalityClaim | null> {
  const tip = blocks.at(-1) ?? chain.tip();
  const matters = network.finality === 'finalized' || network.finalizedAbove !== null;
  if (!matters || network.endpoints.length < 2) return null;
  const storedAt = (height: number) => blocks.findLast(({ number }) => number <= height) ?? chain.atOrBelow(height);

  async function read(rpc: RpcProvider): Promise<FinalityClaim | null> {
    const [head, tagged] = await Promise.all([readHead(rpc), readFinalized(rpc)]);
    const claim = finalityClaim(network, head.number, tagged, true);
    if (claim === null) return null;
    const ours = storedAt(Math.min(claim.height, tip.number));
    if (ours === undefined) return null;
    const theirs = ours.number === tagged?.number ? tagged : await readBlockAt(rpc, ours.number);
    return theirs?.hash === ours.hash ? { ...claim, height: ours.number } : null;
  }

  const answers = await nullIfFailed(endpoints.askUntil(read, (claims) => claims.at(-1) !== null, endpoint));
  return answers?.at(-1) ?? null;
}
