import type { AccessPolicy } from '@quittance/contracts/access.ts';
import {
  type LookedUp,
  LookUpTransaction,
  type LookUpAccount,
  ReadWalletStates,
} from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { type NetworkTip, ReadTips } from '@quittance/contracts/http/chain-watcher/chains.ts';
import { FindTransfersInWindows, type TransferPosition } from '@quittance/contracts/http/chain-watcher/transfers.ts';
import type { VersionedChoice } from '@quittance/contracts/http/payments/gate.ts';
import { ReadPolicy } from '@quittance/contracts/http/quota.ts';
import { ReadWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { ServiceUnavailable, type ServiceClient } from '@quittance/http/client/client.ts';
import { byOurClock, type ClockDifference, widened } from './expiry/clocks.ts';
import { LOOK_UP_TIMEOUT_MS, TIPS_TIMEOUT_MS, VERIFY_TIMEOUT_MS } from './deadlines.ts';

/* What payments asks other services. Every method throws ServiceUnavailable when there is no usable answer. */

/** Transfers to one wallet, only those of `amount` (decimal text) if it is given, in blocks from `from` up to but excluding `to`. */
type ChainWindow = { recipient: string; amount?: string; from: Date; to: Date };

export type Owners = ReturnType<typeof createOwners>;

type ClientOf = (name: string, url: string, timeoutMs?: number) => ServiceClient;

/** The services that own decisions payments keeps a copy of. */
export function createOwners(clientOf: ClientOf, urls: { quotaUrl: string; webhookDispatcherUrl: string }) {
  const quota = clientOf('quota', urls.quotaUrl);
  const webhooks = clientOf('webhook-dispatcher', urls.webhookDispatcherUrl);
  return {
    /** The policy in force; null for a merchant that quota does not know (yet). */
    policy: (merchantId: string): Promise<AccessPolicy | null> =>
      quota.find(ReadPolicy, { params: { merchant_id: merchantId } }),
    /** The events that the merchant's webhook endpoint subscribes to; null when there is no endpoint. */
    webhookChoice: (merchantId: string): Promise<VersionedChoice | null> =>
      webhooks.find(ReadWebhook, { params: { merchant_id: merchantId } }),
  };
}

/** Few enough to read and settle within a second or two. */
const TRANSFERS_A_PAGE = 500;

const toPosition = ({ block_number, transaction_id, transaction_event_index }: TransferObserved): TransferPosition => ({
  block_number,
  transaction_id,
  transaction_event_index,
});

export type Chain = ReturnType<typeof createChain>;

const createChain = (watcher: ServiceClient, clocks: ClockDifference) => ({
  /**
   * @param windows at most 100; with none the answer only says how far the whole network is scanned.
   * @param after where the previous page ended; omit it for the first one.
   * @returns `scannedThrough`: every block up to this time is final and scanned without a gap; null before the first. `next` when there may
   *   be another page.
   */
  async transfersIn(
    network: string,
    windows: readonly ChainWindow[],
    after?: TransferPosition,
  ): Promise<{ scannedThrough: Date | null; transfers: TransferObserved[]; next?: TransferPosition | undefined }> {
    const { scanned_through: through, transfers } = await watcher.call(FindTransfersInWindows, {
      body: {
        network,
        page: { limit: TRANSFERS_A_PAGE, ...(after && { after }) },
        windows: windows.map((window) => ({ ...window, ...widened(window, clocks) })),
      },
    });
    const next = transfers.length === TRANSFERS_A_PAGE ? transfers.map(toPosition).at(-1) : undefined;
    return {
      scannedThrough: through === null ? null : new Date(through),
      transfers: transfers.map((transfer) => byOurClock(transfer, clocks)),
      next,
    };
  },
});

/**
 * Everything that payments asks chain-watcher. There is a client for each purpose, each with its own circuit breaker: slow nodes during an
 * operator's or a merchant's look-up, or a late answer for a page, must not block the expiry loop.
 */
export function createWatcherClients(clientOf: ClientOf, url: string, clocks: ClockDifference) {
  const client = (name: string, timeoutMs?: number) => clientOf(name, url, timeoutMs);
  const finder = (name: string) => createTransactionFinder(client(name, LOOK_UP_TIMEOUT_MS));
  return {
    chain: createChain(client('chain-watcher'), clocks),
    tipReader: createTipReader(client('chain-watcher tips', TIPS_TIMEOUT_MS)),
    verifiers: {
      operators: client('chain-watcher verify', VERIFY_TIMEOUT_MS),
      merchants: client('chain-watcher accept', VERIFY_TIMEOUT_MS),
    },
    proofs: client('chain-watcher proofs'),
    finders: { operators: finder('chain-watcher operator look-up'), merchants: finder('chain-watcher look-up') },
  };
}

export type TransactionFinder = ReturnType<typeof createTransactionFinder>;

const createTransactionFinder = (watcher: ServiceClient) => ({
  /**
   * Where the chain has a transaction. Anything that chain-watcher cannot answer now is reported as not read yet.
   * @param first id of the network that most likely has it.
   * @param account whose look-up budget pays for it; null for an operator's.
   */
  async lookUp(transactionId: string, first: string | null, account: LookUpAccount | null): Promise<LookedUp> {
    const body = { transaction_id: transactionId, ...(first && { first }), ...(account && { account }) };
    try {
      return await watcher.call(LookUpTransaction, { body });
    } catch (error) {
      if (error instanceof ServiceUnavailable) return { outcome: 'not_read_yet', reason: 'no_answer' };
      throw error;
    }
  },
});

export type TipReader = Pick<ReturnType<typeof createTipReader>, 'tips'>;

const createTipReader = (watcher: ServiceClient) => ({
  /** How far chain-watcher has scanned, by network. */
  async tips(): Promise<ReadonlyMap<string, NetworkTip>> {
    const { tips } = await watcher.call(ReadTips);
    return new Map(tips.map((tip) => [tip.network, tip]));
  },
  /** @returns those of the wallets that the token's issuer has frozen, as far as is known. */
  async blacklisted(network: string, addresses: string[]): Promise<string[]> {
    return (await watcher.call(ReadWalletStates, { body: { network, addresses } })).blacklisted;
  },
  /** The time of its database; null from an older release. */
  async clock(): Promise<Date | null> {
    const { clock } = await watcher.call(ReadTips);
    return clock === undefined ? null : new Date(clock);
  },
});
