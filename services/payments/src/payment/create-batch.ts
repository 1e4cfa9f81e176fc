import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import {
  type Caller,
  CallerGone,
  currentCaller,
  jointCaller,
  withCaller,
} from '@quittance/runtime/concurrency/caller.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { type AskedCreation, decideAll, type DecideTogether, type Deciding } from './create.ts';
import type { CreationResult } from './creation-rule.ts';

type Parts = Deciding & { pool: Pool; logger: Logger };

type Member = AskedCreation & { caller: Caller | null };

const MAX_SIZE = 64;
/** One batch is at work in the database while the answers of another are sent. */
const AT_ONCE = 2;
/** For locks other than gates: a wallet or an amount that another creation is taking at this moment. */
const LOCK_TIMEOUT_MS = 20;
/** A caller with less time left would decide how long the batch may take. */
const LEAST_TIME_MS = 250;

/**
 * Creations that wait at the same moment share one transaction and its one wait for the disk (docs/adr/0010). The transaction waits for
 * no lock: a creation whose locks are held, and each one after an error that may concern one member only, is decided alone.
 */
export function createBatches({ pool, logger, ...deciding }: Parts): DecideTogether {
  const decide = createMicroBatcher<Member, CreationResult | null>({
    maxSize: MAX_SIZE,
    concurrency: AT_ONCE,
    async run(members) {
      const batch = compatible(members);
      const results = await decideBatch(batch).catch(
        (error: unknown): Results => new Map(batch.map((member) => [member, Promise.reject(error as Error)])),
      );
      return members.map((member) => results.get(member) ?? null);
    },
  });

  /** When a member's caller hangs up before the commit, the others start again without it. */
  async function decideBatch(batch: readonly Member[]): Promise<Results> {
    if (batch.length === 0) return new Map();
    const outcome = await commitBatch(batch).catch((error: unknown) => {
      if (!(error instanceof CallerGone)) throw error;
      return null;
    });
    if (outcome !== null) return outcome;
    const waiting = batch.filter(isWaiting);
    return waiting.length < batch.length ? decideBatch(waiting) : new Map();
  }

  async function commitBatch(batch: readonly Member[]): Promise<Results> {
    const progress = { isDecided: false };
    try {
      const results = await withCaller(jointCaller(batch.map(({ caller }) => caller)), () =>
        transaction(
          pool,
          async (tx) => {
            progress.isDecided = false;
            const decided = await decideAll(tx, deciding, batch, { waits: false });
            progress.isDecided = true;
            return decided;
          },
          { lockTimeoutMs: LOCK_TIMEOUT_MS },
        ),
      );
      faultPoint('creation-committed');
      return new Map(batch.map((member, position) => [member, results[position] ?? null]));
    } catch (error) {
      // What failed in the commit may be stored: its callers get the error.
      if (progress.isDecided || error instanceof CallerGone) throw error;
      logger.warn({ error, size: batch.length }, 'creations are decided alone');
      return new Map();
    }
  }

  return (asked) => decide({ ...asked, caller: currentCaller() });
}

type Results = ReadonlyMap<Member, CreationResult | null | Promise<never>>;

/** One creation of each merchant, because the next one depends on its counters, and of each wallet, which may be bound by it. */
function compatible(members: readonly Member[]): Member[] {
  const merchants = new Map<string, Member>();
  const wallets = new Map<string, Member>();
  for (const member of members) {
    const { merchant_id: merchant, merchant_wallet: wallet } = member.creation;
    if (!isWaiting(member) || merchants.has(merchant) || wallets.has(wallet)) continue;
    merchants.set(merchant, member);
    wallets.set(wallet, member);
  }
  return [...merchants.values()];
}

const isWaiting = ({ caller }: Member): boolean =>
  caller === null || (!caller.hungUp.aborted && caller.commitWithinMs() >= LEAST_TIME_MS);
