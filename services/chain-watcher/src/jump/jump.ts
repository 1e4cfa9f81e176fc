import { RpcError } from '@quittance/chain-reader/rpc/errors.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import { BLOCK_TIME_MARGIN_SECONDS } from '../blocks/ranges.ts';
import { insertBlocks, pruneBlocksBelow } from '../blocks/block.sql.ts';
import { moveAudited, moveCursor } from '../leadership/cursor.sql.ts';
import { delayJump, failJump, finishJump, insertJump, readWaitingJump, type JumpDone } from './jump.sql.ts';
import { retractUnconfirmedAbove } from '../transfers/transfer.sql.ts';
import { hasUnfinishedCreatedBefore } from '../watches/payment.sql.ts';
import { leaveToBackFill, needMoreThan } from '../watches/watch.sql.ts';
import type { Heights, Position } from '../leadership/term.ts';
import type { Term } from '../leadership/term.ts';
import { publishTransfers, recordTransfers, storeTransfers } from '../transfers/publish.ts';
import { NoTarget, findTarget, type Target } from './target.ts';

/** How often the database is asked for a jump. */
const POLL_EVERY_MS = 1_000;
/** How long a jump pauses that no endpoint could answer for. */
const RETRY_MS = 5_000;

/** So far behind, catching up takes minutes or more. */
const AUTOMATIC_BLOCKS = 2_000;
const AUTOMATIC_EVERY_MS = 60_000;
/** As many as one back-fill reads for at once. For more of them, catching up costs less. */
const AUTOMATIC_WALLETS = 200;
/** What happened so shortly before the block to go on at is soon read by a back-fill. */
const SOON_READ_SECONDS = 3_600;

const AUTOMATIC = { actor: 'chain-watcher', reason: 'no unfinished payment needs the blocks in between' };

/**
 * Lets the scan go on at a later final block, as an operator asks for, or by itself after a long absence when no payment waits for what lies in
 * between. Wallets that were watched have it read by back-filling, and until then nothing is said about them.
 * @returns whether it has done so: what this term knows is out of date then.
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

  /** Such a scan catches up meanwhile, so whatever stands in the way of a jump is no failure. */
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

/** All in one transaction: after a crash the scan goes on at the new block, with everything that follows from it, or at the old one. */
async function goOnAt(
  term: Term,
  position: Position,
  target: Target,
  record: (tx: Transaction, done: JumpDone) => Promise<void>,
): Promise<void> {
  const { network, pool, epoch, logger } = term;
  const { block, scanned, isTip } = target;
  const heights = heightsAt(target, position.heights().hasNamedFinal);
  const [from, through] = [scanned.number + 1, block.number];
  const { rows, wallets } = await transaction(pool, async (tx) => {
    await moveCursor(tx, { network: network.id, epoch, tip: block, ...heights });
    // Back-filling finds again what is still in the chain.
    const retracted = isTip ? [] : await retractUnconfirmedAbove(tx, network.id, scanned.number);
    await publishTransfers(tx, term, retracted, scanned.number);
    // What was seen below a block that is final now, is so too.
    const { published } = await storeTransfers(tx, term, [], heights);
    await pruneBlocksBelow(tx, network.id, block.number);
    await insertBlocks(tx, network.id, [block]);
    await moveAudited(tx, network.id, block.number);
    const scannedThrough = new Date(scanned.timestamp * 1000);
    // Messages that waited for this process: their payments are younger than what was scanned.
    const plannedFrom = new Date((scanned.timestamp + BLOCK_TIME_MARGIN_SECONDS) * 1000);
    const count = await leaveToBackFill(tx, network.id, { from, through, scannedThrough, plannedFrom });
    await record(tx, { from, through, wallets: count });
    faultPoint('jump-written');
    return { rows: [...retracted, ...published], wallets: count };
  });
  logger.warn(
    { network: network.id, left_from: from, left_through: through, wallets },
    'the scan goes on at a later block',
  );
  recordTransfers(term, rows);
}

function heightsAt({ block, head, isNamed }: Target, hasNamedFinal: boolean): Heights {
  const { number, timestamp } = block;
  const final = { number, timestamp };
  return {
    head,
    finalized: number,
    hasNamedFinal: hasNamedFinal || isNamed,
    final,
    largeFinal: final,
    finalHeight: number,
    largeFinalHeight: number,
    confirmingTip: head,
  };
}
