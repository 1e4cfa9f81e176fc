import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import { type Model, type ModelTransfer, transferKey } from './state.ts';

/* What is said of transfers comes into the ledger. */

/** @returns null for what is no news. */
export function takeIn(model: Model, news: TransferObserved): string | null {
  const transfer = fromNews(news, model.now);
  const key = transferKey(transfer);
  const known = model.ledger.get(key);
  if (known === undefined) {
    model.ledger.set(key, transfer);
    return key;
  }
  const first = earliest(known, transfer);
  if (known.version >= transfer.version) {
    model.reached.push('transfer: old news changed nothing');
    Object.assign(known, first);
    return null;
  }
  const { pays, accepted, inside, among, reason, waitsFor, notified } = known;
  model.ledger.set(key, { ...transfer, pays, accepted, inside, among, reason, waitsFor, notified, ...first });
  return key;
}

/** The first reading of all that were published. */
const earliest = (one: ModelTransfer, other: ModelTransfer): Pick<ModelTransfer, 'firstSeen' | 'live'> => {
  const { firstSeen, live } = other.firstSeen < one.firstSeen ? other : one;
  return { firstSeen, live };
};

/** Where chain-watcher does not say when it first read a transfer, it was known by now. */
const fromNews = (news: TransferObserved, now: number): ModelTransfer => ({
  network: news.network,
  id: news.transaction_id,
  index: news.transaction_event_index,
  version: news.version,
  phase: news.phase,
  merchant: news.merchant_id,
  wallet: news.to,
  sender: news.from,
  blockNumber: news.block_number,
  blockTime: Date.parse(news.block_timestamp),
  firstSeen: news.first_seen_at === undefined ? now : Date.parse(news.first_seen_at),
  live: news.live ?? false,
  tokenUnits: BigInt(news.amount_units),
  decimals: news.decimals,
  confirmations: news.confirmations,
  confirmationsRequired: news.confirmations_required,
  pays: null,
  accepted: null,
  inside: false,
  among: [],
  reason: null,
  waitsFor: null,
  notified: false,
});
