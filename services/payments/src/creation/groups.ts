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
import type { PaymentMessages } from '../payment-messages.ts';
import { type CreationResult, insertPayments, type NewPayment } from '../store/new-payment.ts';

/** Null when the creation has to be decided alone; then nothing of it is stored. */
export type DecideTogether = (creation: NewPayment) => Promise<CreationResult | null>;

type Parts = { pool: Pool; messages: Pick<PaymentMessages, 'sendCreatedAfterCommit'>; logger: Logger };

type Member = { creation: NewPayment; caller: Caller | null };

const MAX_SIZE = 64;
/** One is at work in the database while the answers of another are sent. */
const AT_ONCE = 2;
/** For what is locked beside gates: a wallet or slot that somebody is taking in this moment. */
const LOCK_TIMEOUT_MS = 20;
/** Whoever stops waiting earlier would decide how long the group may take. */
const LEAST_TIME_MS = 250;

/**
 * Creations that wait at the same moment share one transaction and its one wait for the disk (docs/adr/0038). Nothing is waited for in
 * it: what is locked, and everything after an error that may be one member's own, is left to be decided alone.
 */
export function createGroups({ pool, messages, logger }: Parts): DecideTogether {
  const decide = createMicroBatcher<Member, CreationResult | null>({
    maxSize: MAX_SIZE,
    concurrency: AT_ONCE,
    async run(members) {
      const group = compatible(members);
      const results = await decideGroup(group).catch(
        (error: unknown): Results => new Map(group.map((member) => [member, Promise.reject(error as Error)])),
      );
      return members.map((member) => results.get(member) ?? null);
    },
  });

  /** A member whose caller goes before the commit leaves the others, who begin again without it. */
  async function decideGroup(group: readonly Member[]): Promise<Results> {
    if (group.length === 0) return new Map();
    const outcome = await commitGroup(group).catch((error: unknown) => {
      if (!(error instanceof CallerGone)) throw error;
      return null;
    });
    if (outcome !== null) return outcome;
    const waiting = group.filter(isWaiting);
    return waiting.length < group.length ? decideGroup(waiting) : new Map();
  }

  async function commitGroup(group: readonly Member[]): Promise<Results> {
    const progress = { isDecided: false };
    try {
      const results = await withCaller(jointCaller(group.map(({ caller }) => caller)), () =>
        transaction(
          pool,
          async (tx) => {
            progress.isDecided = false;
            const decided = await insertPayments(
              tx,
              group.map(({ creation }) => creation),
            );
            if (decided.some((result) => result?.outcome === 'created')) {
              faultPoint('creation-written');
              messages.sendCreatedAfterCommit(tx);
            }
            progress.isDecided = true;
            return decided;
          },
          { lockTimeoutMs: LOCK_TIMEOUT_MS },
        ),
      );
      faultPoint('creation-committed');
      return new Map(group.map((member, position) => [member, results[position] ?? null]));
    } catch (error) {
      // What failed in the commit may be stored: its callers are told so.
      if (progress.isDecided || error instanceof CallerGone) throw error;
      logger.warn({ error, size: group.length }, 'creations are decided alone');
      return new Map();
    }
  }

  return (creation) => decide({ creation, caller: currentCaller() });
}

type Results = ReadonlyMap<Member, CreationResult | null | Promise<never>>;

/** One creation of each merchant, because the next one depends on its counters, and of each wallet, which may be bound by it. */
function compatible(members: readonly Member[]): Member[] {
  const merchants = new Map<string, Member>();
  const wallets = new Map<string, Member>();
  for (const member of members) {
    const { merchant_id: merchant, recipient } = member.creation.payment;
    if (!isWaiting(member) || merchants.has(merchant) || wallets.has(recipient)) continue;
    merchants.set(merchant, member);
    wallets.set(recipient, member);
  }
  return [...merchants.values()];
}

const isWaiting = ({ caller }: Member): boolean =>
  caller === null || (!caller.hungUp.aborted && caller.commitWithinMs() >= LEAST_TIME_MS);
