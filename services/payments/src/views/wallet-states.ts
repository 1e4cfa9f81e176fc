import { WALLETS_MAX } from '@quittance/contracts/http/chain-watcher/wallets.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { IsBlacklisted } from './warnings.ts';

/** chain-watcher asks the chain once in ten minutes; a page that is looked at shows its answer within this. */
const MAX_AGE_MS = 30_000;
/** More wallets than are looked at in that time; only a bound. */
const KEPT_MAX = 10_000;

type Ask = (network: string, addresses: string[]) => Promise<string[]>;

/**
 * Remembers which wallets are frozen. The answer is what is known; chain-watcher is asked afterwards, so that nobody waits for it, and about
 * what is looked at in one moment together.
 * @param now monotonic milliseconds.
 */
export function createWalletStates(
  { ask, logger }: { ask: Ask; logger: Logger },
  now: () => number = () => performance.now(),
): IsBlacklisted {
  const known = new Map<string, { isBlacklisted: boolean; askedAt: number }>();
  const wanted = new Map<string, Set<string>>();

  async function askAll(): Promise<void> {
    const questions = [...wanted];
    wanted.clear();
    for (const [network, addresses] of questions) {
      const asked = [...addresses].slice(0, WALLETS_MAX);
      const blacklisted = new Set(await ask(network, asked));
      for (const address of asked)
        known.set(`${network} ${address}`, { isBlacklisted: blacklisted.has(address), askedAt: now() });
    }
  }

  return (network, recipient) => {
    const key = `${network} ${recipient}`;
    const state = known.get(key);
    if (state === undefined || now() - state.askedAt > MAX_AGE_MS) {
      if (known.size >= KEPT_MAX) known.clear();
      // Asked once, also where no answer comes.
      known.set(key, { isBlacklisted: state?.isBlacklisted ?? false, askedAt: now() });
      if (wanted.size === 0)
        setImmediate(() => {
          askAll().catch((error: unknown) =>
            logger.debug({ error }, 'chain-watcher does not say which wallets are frozen'),
          );
        });
      wanted.set(network, (wanted.get(network) ?? new Set()).add(recipient));
    }
    return state?.isBlacklisted ?? false;
  };
}
