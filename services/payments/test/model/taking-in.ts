import type { TransferObserved } from '@quittance/contracts/messages.ts';
import { type Model, type ModelTransfer, transferKey } from './state.ts';

/* Adds news about transfers to the ledger. */

/** @returns null when it is not newer. */
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
  const { pays, accepted, part, counted, inside, among, reason, waitsFor, notified } = known;
  const meaning = { pays, accepted, part, counted, inside, among, reason, waitsFor, notified };
  model.ledger.set(key, { ...transfer, ...meaning, ...first });
  return key;
}

/** The first reading among all that were published. */
const earliest = (one: ModelTransfer, other: ModelTransfer): Pick<ModelTransfer, 'firstSeen' | 'live'> => {
  const { firstSeen, live } = other.firstSeen < one.firstSeen ? other : one;
  return { firstSeen, live };
};

/** When chain-watcher does not report when it first read a transfer, it counts as known from now. */
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
  part: null,
  counted: null,
  inside: false,
  among: [],
  reason: null,
  waitsFor: null,
  notified: false,
});
