import { blacklistQuestions, readBlacklisted, type BlacklistQuestion } from '@quittance/chain-reader/chain/look-up.ts';
import { withCaller } from '@quittance/runtime/concurrency/caller.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import { LRUCache } from 'lru-cache';
import type { WatchedNetwork } from './look-ups.ts';

/** An issuer freezes a few wallets a day and rarely unfreezes one. */
const ASKED_EVERY_MS = 600_000;
const MAX_KEPT = 20_000;
/** Most calls at once on one network. A wallet beyond that is looked up at the next question about it. */
const AT_ONCE = 8;

export type WalletStates = ReturnType<typeof createWalletStates>;

/**
 * Knows which wallets a token's issuer has frozen. Callers never wait for a node: an unknown state is fetched in the background, at most once
 * in ten minutes for each wallet, even after a failure.
 * @param now monotonic milliseconds.
 */
export function createWalletStates(
  { networks, logger }: { networks: readonly WatchedNetwork[]; logger: Logger },
  now: () => number = () => performance.now(),
) {
  const byNetwork = new Map(networks.map((watched) => [watched.network.id, createAsker(watched, logger, now)]));
  return {
    /** @param wallets 20 bytes each, as 0x and lowercase hex. @returns the wallets that are known to be frozen. */
    blacklisted(network: string, wallets: readonly string[]): string[] {
      const asker = byNetwork.get(network);
      return asker === undefined ? [] : wallets.filter((wallet) => asker.isBlacklisted(wallet));
    },
  };
}

function createAsker({ network, endpoints }: WatchedNetwork, logger: Logger, now: () => number) {
  const known = new LRUCache<string, { isBlacklisted: boolean; askedAt: number }>({ max: MAX_KEPT });
  /** Once the token has answered a question, only that question. */
  let questions: readonly BlacklistQuestion[] = blacklistQuestions;
  let [underWay, notBefore] = [0, Number.NEGATIVE_INFINITY];

  async function ask(wallet: string): Promise<void> {
    underWay += 1;
    try {
      const [answer] = await withCaller(null, () =>
        endpoints.lookUp(
          (rpc) => readBlacklisted(rpc, network, wallet, questions),
          () => true,
        ),
      );
      if (answer === undefined) return;
      // The token has no such list, or was upgraded. The next question tries all functions again.
      questions = answer === null ? blacklistQuestions : [answer.question];
      if (answer === null) {
        notBefore = now() + ASKED_EVERY_MS;
        return;
      }
      known.set(wallet, { isBlacklisted: answer.isBlacklisted, askedAt: now() });
    } catch (error) {
      logger.error({ network: network.id, error }, 'a wallet could not be looked up in its token');
    } finally {
      underWay -= 1;
    }
  }

  return {
    isBlacklisted(wallet: string): boolean {
      const before = known.get(wallet);
      const isDue = before === undefined || now() - before.askedAt >= ASKED_EVERY_MS;
      const isBlacklisted = before?.isBlacklisted ?? false;
      if (isDue && now() >= notBefore && underWay < AT_ONCE) {
        known.set(wallet, { isBlacklisted, askedAt: now() });
        void ask(wallet);
      }
      return isBlacklisted;
    },
  };
}
