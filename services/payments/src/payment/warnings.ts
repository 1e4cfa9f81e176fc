import type { PaymentWarning } from '@quittance/contracts/api/payment.ts';
import type { ReadTips } from './progress.ts';
import { WALLETS_MAX } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import type { Logger } from '@quittance/runtime/logger.ts';

/** Whether the issuer of a network's token has frozen a wallet, as far as is known. Returns immediately. */
export type IsBlacklisted = (network: string, recipient: string) => boolean;

/** For each payment, what may prevent its money from being noticed or used. */
export type ReadWarnings = (
  payments: readonly { status: string; network: string; recipient: string }[],
) => Promise<PaymentWarning[][]>;

/** After this long without an answer from chain-watcher, all networks count as not read. */
const SILENT_MS = 60_000;

export const createWarnings =
  ({ readTips, isBlacklisted }: { readTips: ReadTips; isBlacklisted: IsBlacklisted }): ReadWarnings =>
  async (payments) => {
    const concerned = payments.filter(({ status }) => status !== 'PAID');
    if (concerned.length === 0) return payments.map(() => []);
    const { tips, askedAt } = await readTips();
    // Nothing is known before the first answer, so there is no warning.
    const isSilent = askedAt !== -Infinity && performance.now() - askedAt > SILENT_MS;
    // A network that is missing from the answer is not followed. An empty answer means that chain-watcher has just been installed.
    const isUnread = (network: string) =>
      tips.size > 0 && (!tips.has(network) || tips.get(network)?.unreadable === true);
    const isUnreadable = (network: string) => isSilent || isUnread(network);
    return payments.map(({ status, network, recipient }) =>
      status === 'PAID'
        ? []
        : [
            ...(isBlacklisted(network, recipient) ? (['wallet_blacklisted'] as const) : []),
            ...(isUnreadable(network) ? (['network_unreadable'] as const) : []),
          ],
    );
  };

/** chain-watcher asks the chain once in ten minutes; an open page shows its answer within this time. */
const MAX_AGE_MS = 30_000;
/** More wallets than are viewed in that time; only a bound. */
const KEPT_MAX = 10_000;

type Ask = (network: string, addresses: string[]) => Promise<string[]>;

/**
 * Remembers which wallets are frozen. It answers from what is known and asks chain-watcher afterwards, so that no request waits; wallets
 * viewed at the same moment are asked about together.
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
      // Asked once, even if there is no answer.
      known.set(key, { isBlacklisted: state?.isBlacklisted ?? false, askedAt: now() });
      if (wanted.size === 0)
        setImmediate(() => {
          askAll().catch((error: unknown) =>
            logger.debug({ error }, 'chain-watcher did not answer which wallets are frozen'),
          );
        });
      wanted.set(network, (wanted.get(network) ?? new Set()).add(recipient));
    }
    return state?.isBlacklisted ?? false;
  };
}
