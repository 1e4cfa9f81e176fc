import { randomBytes } from 'node:crypto';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { newId } from '@quittance/contracts/ids.ts';
import type { NoticeRaised, PaymentPaid, TransferObserved } from '@quittance/contracts/messages.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { webhookChoices } from '@quittance/contracts/webhook.ts';
import type { Chain } from '../src/clients.ts';
import { findArrived, findMerchantTransfers } from '../src/finding/find-transfers.ts';
import { findPayment } from '../src/payment/payment.sql.ts';
import { keepReplyPartitions } from '../src/payment/saved-replies.ts';
import { noTips, createConfirmationPolicy } from '../src/payment/progress.ts';
import { network as local } from './service.ts';
import { newKey, newWallet, policyOf } from './fixtures.ts';
import { ownersIn, verifierIn } from './model/other-services.ts';
import { startReplica } from './model/replica.ts';
import { transferKey } from './model/state.ts';
import type { OtherServices } from './model/steps.ts';
import type { SharedDatabase } from './model/world.ts';

/** All histories are on this day, by the clock of the database, which the test moves; a whole timestamp is for any other day. */
const at = (time: string): Date => new Date(`${time.includes('T') ? time : `2031-03-11T${time}`}Z`);

type Merchant = 'one' | 'two';
type Phase = TransferObserved['phase'];

/** When a transfer came: its block's time, and when chain-watcher first read it; `live` as chain-watcher reports it. */
type Sight = { block: string; read: string; live?: boolean; amount?: string };

/** By default 10 USDT of the first merchant, for its own order. */
type Order = { amount?: string; orderId?: string; merchant?: Merchant };

const AMOUNT = '10';

/**
 * One wallet and its history, made by the service's own calls and by messages as chain-watcher sends them. Payments and transfers have
 * names, which outcomes refer to.
 */
export async function beginHistory(
  { pools: [pool], db, outbox, clock, publicBaseUrl }: SharedDatabase,
  { walletBinding = true, ttlSeconds = 1800 }: { walletBinding?: boolean; ttlSeconds?: number } = {},
) {
  const wallet = newWallet();
  const network = networkOf(randomBytes(6).toString('hex'));
  const merchants: Record<Merchant, string> = { one: newId('mer'), two: newId('mer') };
  const others: OtherServices = { quota: new Map(), endpoints: new Map(), down: new Set(), chain: new Map() };
  const settings = { ttlSeconds, walletBinding, publicBaseUrl, pools: new Map() };
  const replica = startReplica(pool, {
    ...{ outbox, settings, networks: [network] },
    owners: ownersIn(others),
    verifier: verifierIn(others),
  });
  for (const merchantId of Object.values(merchants)) {
    others.quota.set(merchantId, policyOf(merchantId));
    others.endpoints.set(merchantId, webhookChoices);
  }
  const payments = new Map<string, Payment & { merchant: Merchant }>();
  const transfers = new Map<string, TransferObserved>();
  let watchedFor = merchants.one;
  await clock.set(at('00:00:00').getTime());
  await keepReplyPartitions(db);

  const paymentCalled = (name: string) => payments.get(name)!;
  const nameOfPayment = (id: string) => [...payments].find(([, { payment_id }]) => payment_id === id)![0];
  const nameOfTransfer = (id: string | null) => [...transfers].find(([, one]) => one.transaction_id === id)![0];
  const remember = (name: string, transfer: TransferObserved): TransferObserved => {
    transfers.set(name, transfer);
    const { transaction_id: id, transaction_event_index: index } = transfer;
    const key = transferKey({ network: network.id, id, index });
    others.chain.set(key, [...(others.chain.get(key) ?? []), transfer]);
    return transfer;
  };

  return {
    /** Sets the time of everything that follows. */
    now: (time: string) => clock.set(at(time).getTime()),

    async create(name: string, { amount = AMOUNT, orderId = name, merchant = 'one' }: Order = {}): Promise<void> {
      const call = { merchant: merchants[merchant], key: newKey(), amount, wallet, network: network.id, orderId };
      const { status, text } = await replica.create({
        ...call,
        description: name,
        isPrice: false,
        own: null,
        percent: null,
      });
      if (status !== 201) throw new Error(`creation answered ${status}: ${text}`);
      payments.set(name, { ...(JSON.parse(text) as Payment), merchant });
      watchedFor = merchants[merchant];
    },

    async cancel(name: string): Promise<void> {
      const { merchant, payment_id: id } = paymentCalled(name);
      const { status, text } = await replica.cancel(merchants[merchant], id);
      if (status !== 200) throw new Error(`cancellation answered ${status}: ${text}`);
    },

    /** It is on the chain and chain-watcher has read it; payments has no message yet. */
    transfer(name: string, { block, read, live = true, amount = AMOUNT }: Sight): void {
      remember(name, {
        merchant_id: watchedFor,
        network: network.id,
        ...{ transaction_id: randomBytes(32).toString('hex'), transaction_event_index: 3 },
        ...{ block_number: 1234, block_hash: newHash(), block_timestamp: at(block).toISOString() },
        ...{ from: newWallet(), to: wallet, amount_units: String(parseAmount(amount)), decimals: 6 },
        ...{ phase: 'seen', version: 1, confirmations: 1, confirmations_required: 2 },
        ...{ first_seen_at: at(read).toISOString(), live },
      });
    },

    /** A reorganisation puts it into a block of another time. The first reading does not change. */
    move(name: string, block: string): void {
      const last = transfers.get(name)!;
      const version = last.version + 1;
      remember(name, { ...last, version, block_hash: newHash(), block_timestamp: at(block).toISOString() });
    },

    /** chain-watcher's messages about transfers arrive, in one batch. */
    async tell(news: Record<string, Phase>): Promise<void> {
      const messages = Object.entries(news).map(([name, phase]) => {
        const last = transfers.get(name)!;
        if (phase === last.phase) return last;
        return remember(name, { ...last, phase, version: last.version + 1, confirmations: 2 });
      });
      const answer = await replica.receiveTransfers(messages);
      if (answer !== 'taken') throw new Error(`the messages are ${answer}`);
    },

    /** It is confirmed, and the message is lost. */
    confirmUnheard(name: string): void {
      const last = transfers.get(name)!;
      remember(name, { ...last, phase: 'confirmed', version: last.version + 1, confirmations: 2 });
    },

    /** The expiry loop runs once, on a chain that is final and scanned up to this time of its own clock. */
    async expire(readThrough: string): Promise<void> {
      const newest = [...transfers.values()];
      const ended = await replica.expire(chainThrough(at(readThrough), newest), []);
      if (ended !== true) throw new Error('the expiry loop could not ask its questions');
    },

    /** @returns the status, and the text of a refusal. @param by the payment's merchant unless an operator does it. */
    async accept(name: string, transfer: string, confirmed: number | null, by: 'merchant' | 'operator' = 'merchant') {
      const { merchant, payment_id: payment } = paymentCalled(name);
      const { transaction_id: id, transaction_event_index: index } = transfers.get(transfer)!;
      const accepting = { merchant: by === 'operator' ? null : merchants[merchant], payment, confirmed };
      const { status, text } = await replica.accept({ ...accepting, transfer: { network: network.id, id, index } });
      return status === 200 ? '200' : `${status} ${(JSON.parse(text) as { detail: string }).detail}`;
    },

    /** What a payment's merchant reads, and what its page shows as received. */
    async shown(name: string) {
      const { merchant, payment_id: id } = paymentCalled(name);
      const [details, row] = await Promise.all([replica.details(merchants[merchant], id), findPayment(pool, id)]);
      const { status, transaction, unmatched_transfers: unmatched } = details!;
      return {
        status: transaction === null ? status : `${status} by ${nameOfTransfer(transaction.transaction_id)}`,
        unmatched: unmatched.map(({ transaction_id: transfer, reason, candidate_count: count }) =>
          reason === 'paid_another' ? `paid_another` : `${nameOfTransfer(transfer)} ${reason}, ${count} of them`,
        ),
        page: (await findArrived(pool, row!))?.amount ?? null,
      };
    },

    /** All notices to a merchant, in the order of transactions and statements: the clock does not move. */
    async events(merchant: Merchant = 'one'): Promise<string[]> {
      const { rows } = await pool.query<{ name: string; body: string }>(
        `select name, body from outbox where merchant_id = $1 and name in ('PaymentPaid', 'NoticeRaised') order by xmin::text::bigint, cmin::text::bigint, created_at`,
        [merchants[merchant]],
      );
      return rows.map(({ name, body }) => {
        if (name === 'NoticeRaised') return noticeLine(JSON.parse(body) as NoticeRaised);
        const paid = JSON.parse(body) as PaymentPaid;
        const how = paid.accepted ? `, accepted as ${paid.transfer!.reason}` : '';
        return `${nameOfPayment(paid.payment_id)} PAID by ${nameOfTransfer(paid.transaction_id)}${how}`;
      });
    },

    /** GET /merchant/transfers. */
    async found(transfer: string, merchant: Merchant = 'one') {
      const finding = { db: pool, networks: [network.id], finder: { lookUp: notAsked } };
      const progress = { readTips: () => Promise.resolve(noTips), policy: createConfirmationPolicy([network]) };
      const id = transfers.get(transfer)!.transaction_id;
      const { transfers: found } = await findMerchantTransfers({ ...finding, ...progress }, merchants[merchant], id);
      return found.map(({ payment_id: only, reason, candidates, candidates_elsewhere: elsewhere }) => ({
        payment: only === null ? null : nameOfPayment(only),
        ...{ reason, candidates: candidates.map(nameOfPayment).toSorted(), elsewhere },
      }));
    },
  };

  function noticeLine(notice: NoticeRaised): string {
    const { event_type: type, payment_id: id, transaction_id: transfer, transfer: money, candidates = [] } = notice;
    if (type !== 'transfer.unmatched') {
      const by = transfer === null ? '' : ` by ${nameOfTransfer(transfer)}`;
      const count = notice.candidate_transfers === undefined ? '' : `, ${notice.candidate_transfers} may be for it`;
      return `${nameOfPayment(id!)} ${type.replace('payment.', '')}${by}${count}`;
    }
    const only = id === null ? '' : `, only ${nameOfPayment(id)}`;
    const elsewhere = notice.candidates_elsewhere === true ? ', and elsewhere' : '';
    const ids = candidates.map(nameOfPayment).toSorted().join(' ');
    return `${nameOfTransfer(transfer)} unmatched: ${money!.reason}, candidates ${ids}${only}${elsewhere}`;
  }
}

/** The ledger has everything that is needed here. */
const notAsked = () => Promise.reject(new Error('nothing else should be asked'));

const newHash = (): string => `0x${randomBytes(32).toString('hex')}`;

const networkOf = (tag: string): Network => ({
  ...{ id: `${local}-${tag}`, family: 'evm', chain_id: 31337, rpc_urls: ['http://127.0.0.1:1'], decimals: 6 },
  usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  ...{ confirmations: 2, finality: 'confirmations', poll_interval_ms: 100, explorer_transaction_url: null },
});

/** How far outside a window a block's time may be for chain-watcher to include it, and how much it allows when it did not read live. */
const REACH_MS = 150_000;
const UNSEEN_LAG_MS = 15_000;

/** Answers as chain-watcher does: the transfers whose interval meets a window. */
const chainThrough = (scannedThrough: Date, transfers: readonly TransferObserved[]): Chain => ({
  transfersIn: (_network, windows) => {
    const mayBeIn = (transfer: TransferObserved, { amount, from, to }: (typeof windows)[number]): boolean => {
      const block = Date.parse(transfer.block_timestamp);
      const madeBy = transfer.live === true ? Date.parse(transfer.first_seen_at!) : block + UNSEEN_LAG_MS;
      const opens = from.getTime() - (from.getTime() % 1000);
      const isNear = block >= opens - REACH_MS && block < to.getTime() + REACH_MS;
      const meets = Math.min(block, madeBy) < to.getTime() && Math.max(block, madeBy) >= opens;
      return isNear && meets && (amount === undefined || BigInt(transfer.amount_units) === parseAmount(amount));
    };
    const found = transfers.filter(
      (transfer) => transfer.phase !== 'retracted' && windows.some((window) => mayBeIn(transfer, window)),
    );
    return Promise.resolve({ scannedThrough, transfers: found });
  },
});
