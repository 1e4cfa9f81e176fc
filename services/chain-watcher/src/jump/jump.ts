import { finalityClaim } from '@quittance/chain-reader/chain/finality.ts';
import type { BlockHead } from '@quittance/chain-reader/chain/local-chain.ts';
import type { Block } from '@quittance/chain-reader/rpc/answers.ts';
import { nullIfFailed, RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import type { RpcProvider } from '@quittance/chain-reader/rpc/provider.ts';
import { readBlockAt, readFinalized, readHead } from '@quittance/chain-reader/rpc/reads.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { insertBlocks, pruneBlocksBelow } from '../blocks/block.sql.ts';
import { BLOCK_TIME_MARGIN_SECONDS } from '../blocks/ranges.ts';
import { moveAudited, moveCursor, type FinalBlock } from '../leadership/cursor.sql.ts';
import { storedHeights, type Position, type Term } from '../leadership/term.ts';
import { publishTransfers, recordTransfers, storeTransfers } from '../transfers/publish.ts';
import { retractTransfersAbove } from '../transfers/transfer.sql.ts';
import { hasUnfinishedCreatedBefore } from '../watches/payment.sql.ts';
import { leaveToBackFill, needMoreThan } from '../watches/watch.sql.ts';
import { delayJump, failJump, finishJump, insertJump, readWaitingJump, type JumpDone } from './jump.sql.ts';

/** How often the database is checked for a requested jump. */
const POLL_EVERY_MS = 1_000;
/** How long a jump pauses when no endpoint gives an answer. */
const RETRY_MS = 5_000;

/** When the scan is this far behind, catching up takes minutes or more. */
const AUTOMATIC_BLOCKS = 2_000;
const AUTOMATIC_EVERY_MS = 60_000;
/** As many as one back-fill reads at once. For more wallets, catching up costs less than a jump. */
const AUTOMATIC_WALLETS = 200;
/** A back-fill soon reads what happened this shortly before the jump's target. */
const SOON_READ_SECONDS = 3_600;

const AUTOMATIC = { actor: 'chain-watcher', reason: 'no unfinished payment needs the blocks in between' };

/**
 * Lets the scan continue at a later final block, when an operator requests it, or automatically after a long absence if no payment waits for
 * the blocks in between. A back-fill reads those for the watched wallets, and until then these wallets do not count as scanned.
 * @returns whether the scan jumped. The term's state is out of date then.
 */
export function createJumpJob(term: Term, position: Position): { run(): Promise<boolean> } {
  const { network, pool, logger } = term;
  /** Monotonic milliseconds. */
  let notBefore = 0;
  let automaticNotBefore = 0;

  async function jumpAsAsked(): Promise<boolean> {
    const jump = await readWaitingJump(pool, network.id);
    if (jump === null) return false;
    try {
      const target = await findTarget(term, position, { toBlock: jump.to_block, mustAgree: false });
      await goOnAt(term, position, target, (tx, done) => finishJump(tx, jump.jump_id, done));
      return true;
    } catch (error) {
      if (error instanceof NoTarget) {
        await failJump(pool, jump.jump_id, error.message);
      } else if (error instanceof RpcError) {
        notBefore = performance.now() + RETRY_MS;
        await delayJump(pool, jump.jump_id, error.message);
      } else {
        throw error;
      }
      logger.warn({ network: network.id, jump_id: jump.jump_id, error: error.message }, 'a jump was not carried out');
      return false;
    }
  }

  /** Without a jump, the scan catches up. So it is no failure when no jump is possible. */
  async function jumpUnasked(): Promise<boolean> {
    try {
      const target = await findTarget(term, position, { toBlock: null, mustAgree: true });
      const { block, scanned } = target;
      if (block.number - scanned.number <= AUTOMATIC_BLOCKS) return false;
      const scannedThrough = new Date(scanned.timestamp * 1000);
      if (await needMoreThan(pool, network.id, scannedThrough, AUTOMATIC_WALLETS)) return false;
      const before = new Date((block.timestamp - SOON_READ_SECONDS) * 1000);
      if (await hasUnfinishedCreatedBefore(pool, network.id, before)) return false;
      await goOnAt(term, position, target, (tx, done) => insertJump(tx, network.id, AUTOMATIC, done));
      return true;
    } catch (error) {
      if (!(error instanceof NoTarget || error instanceof RpcError)) throw error;
      return false;
    }
  }

  return {
    async run() {
      const now = performance.now();
      if (now >= notBefore) {
        notBefore = now + POLL_EVERY_MS;
        if (await jumpAsAsked()) return true;
      }
      const isFarBehind = position.heights().head - position.chain.tip().number > AUTOMATIC_BLOCKS;
      if (!isFarBehind || now < automaticNotBefore) return false;
      automaticNotBefore = now + AUTOMATIC_EVERY_MS;
      return jumpUnasked();
    },
  };
}

/** In one transaction: after a crash, the scan continues either at the new block with all consequences, or at the old one. */
async function goOnAt(
  term: Term,
  position: Position,
  target: Target,
  record: (tx: Transaction, done: JumpDone) => Promise<void>,
): Promise<void> {
  const { network, pool, epoch, logger } = term;
  const { block, scanned, isTip, head } = target;
  const hasNamedFinal = position.heights().hasNamedFinal || target.isNamed;
  const heights = storedHeights(
    { head, finalized: block.number, hasNamedFinal, final: block, largeFinal: block },
    head,
  );
  const [from, through] = [scanned.number + 1, block.number];
  const { rows, wallets } = await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch, tip: block, ...heights });
    // A back-fill finds again the transfers that are still in the chain.
    const retracted = isTip ? [] : await retractTransfersAbove(tx, network.id, scanned.number, ['seen']);
    await publishTransfers(tx, term, retracted, scanned.number);
    // Transfers that were seen below a block that is now final are final, too.
    const { published } = await storeTransfers(tx, term, [], heights);
    await pruneBlocksBelow(tx, network.id, block.number);
    await insertBlocks(tx, network.id, [block]);
    await moveAudited(tx, network.id, block.number);
    const scannedThrough = new Date(scanned.timestamp * 1000);
    // Payments whose messages waited for this process are younger than the scanned blocks.
    const plannedFrom = new Date((scanned.timestamp + BLOCK_TIME_MARGIN_SECONDS) * 1000);
    const count = await leaveToBackFill(tx, network.id, { from, through, scannedThrough, plannedFrom });
    await record(tx, { from, through, wallets: count });
    faultPoint('jump-written');
    return { rows: [...retracted, ...published], wallets: count };
  });
  logger.warn(
    { network: network.id, left_from: from, left_through: through, wallets },
    'the scan continues at a later block',
  );
  recordTransfers(term, rows);
}

/** Where the scan can continue. */
type Target = {
  /** Final under the network's policy. */
  block: Block;
  head: number;
  /** Whether a node has named a final block. */
  isNamed: boolean;
  /** The last scanned block that is certainly in the chain. */
  scanned: FinalBlock;
  /** Whether `scanned` is our tip. Otherwise a reorg may have removed the blocks above it, and no node shows them any more. */
  isTip: boolean;
};

/** There is no target, and asking again would not change that. The message is a sentence for an operator. */
class NoTarget extends Error {
  override readonly name = 'NoTarget';
}

/**
 * Finds the block to continue at.
 * @param toBlock null for the last final one.
 * @param mustAgree whether another endpoint, if one is configured, has to show that block. Otherwise it only must not contradict it.
 * @throws NoTarget; RpcError when the endpoints' answers are not enough.
 */
async function findTarget(
  term: Term,
  position: Position,
  { toBlock, mustAgree }: { toBlock: number | null; mustAgree: boolean },
): Promise<Target> {
  const { endpoints, network } = term;
  const { target, endpoint } = await endpoints.ask(async (rpc) => {
    const found = await readTarget(rpc, term, position, toBlock);
    return { target: found, endpoint: rpc.endpoint };
  });
  if (network.endpoints.length < 2) return target;
  const { number, hash } = target.block;
  const asking = endpoints.askAnother(async (rpc) => ({ hash: (await readBlockAt(rpc, number))?.hash }), endpoint);
  const shown = await (mustAgree ? asking : nullIfFailed(asking));
  if (shown !== null && shown.hash !== hash)
    throw new RpcError(
      'invalid_answer',
      `another endpoint does not show block ${String(number)}, which one calls final`,
    );
  return target;
}

async function readTarget(
  rpc: RpcProvider,
  { network }: Term,
  { chain, heights }: Position,
  toBlock: number | null,
): Promise<Target> {
  const tip = chain.tip();
  const { largeFinal, hasNamedFinal } = heights();
  const [head, tagged, tipNow, finalNow] = await Promise.all([
    readHead(rpc),
    readFinalized(rpc),
    // Nodes drop old blocks first, headers included, and report that in too many ways to list.
    nullIfFailed(readBlockAt(rpc, tip.number)),
    largeFinal === null ? null : nullIfFailed(readBlockAt(rpc, largeFinal.number)),
  ]);
  const claim = finalityClaim(network, head.number, tagged, hasNamedFinal);
  if (claim === null) throw new RpcError('unknown_block', 'the node does not name a final block');
  const last = Math.min(claim.height, head.number - network.confirmations + 1);
  const number = toBlock ?? last;
  if (number > last)
    throw new NoTarget(`block ${String(number)} is not final yet: the last final block is ${String(last)}`);
  if (number <= tip.number)
    throw new NoTarget(
      `there is nothing to skip: block ${String(tip.number)} is scanned, and the last final block is ${String(last)}`,
    );
  const ours = largeFinal === null ? undefined : chain.hashAt(largeFinal.number);
  // A fork below the final block halts the network. The scan itself detects that.
  if (finalNow !== null && ours !== undefined && finalNow.hash !== ours)
    throw new RpcError('invalid_answer', 'a different block than the one that was final');
  const block = await readBlockAt(rpc, number);
  if (block === null) throw new RpcError('unknown_block', 'the node does not have a block that it calls final');
  const scanned = scannedForCertain(tip, tipNow, largeFinal);
  return { block, head: head.number, isNamed: claim.isNamed, scanned, isTip: scanned.number === tip.number };
}

function scannedForCertain(tip: BlockHead, tipNow: Block | null, largeFinal: FinalBlock | null): FinalBlock {
  if (tipNow?.hash === tip.hash) return { number: tip.number, timestamp: tip.timestamp };
  if (largeFinal === null) throw new RpcError('unknown_block', 'the node does not show the last block scanned');
  return largeFinal;
}
