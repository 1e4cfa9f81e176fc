import type { PaymentWarning } from '@quittance/contracts/payment.ts';
import type { ReadTips } from './chain-tips.ts';

/** Whether the issuer of a network's token has frozen a wallet, as far as is known; asking takes no time. */
export type IsBlacklisted = (network: string, recipient: string) => boolean;

/** What may keep the money of payments from being noticed or used, for each of them. */
export type ReadWarnings = (
  payments: readonly { status: string; network: string; recipient: string }[],
) => Promise<PaymentWarning[][]>;

/** Without an answer from chain-watcher for so long, no network is read as far as anybody knows. */
const SILENT_MS = 60_000;

export const createWarnings =
  ({ readTips, isBlacklisted }: { readTips: ReadTips; isBlacklisted: IsBlacklisted }): ReadWarnings =>
  async (payments) => {
    const concerned = payments.filter(({ status }) => status !== 'PAID');
    if (concerned.length === 0) return payments.map(() => []);
    const { tips, askedAt } = await readTips();
    // Before the first answer nothing is known, and nothing is said.
    const isSilent = askedAt !== -Infinity && performance.now() - askedAt > SILENT_MS;
    // A network that is not in the answer is not followed; where nothing is, chain-watcher has just been installed.
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
