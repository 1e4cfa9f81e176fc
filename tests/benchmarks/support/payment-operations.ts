import { randomUUID } from 'node:crypto';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { composeMessage, type Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { claimMessages, insertMessages } from '@quittance/messaging/outbox/store.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { decideAll } from '../../../services/payments/src/payment/create.ts';
import type { Creation, CreationResult } from '../../../services/payments/src/payment/creation-rule.ts';
import { createPaymentMessages } from '../../../services/payments/src/payment/outgoing-messages.ts';
import { findNearestCandidate, findPayments } from '../../../services/payments/src/finding/find.sql.ts';
import { anything, listPayments } from '../../../services/payments/src/payment/list.sql.ts';
import { findByPublicTokens, findDetails, findUnmatched } from '../../../services/payments/src/payment/view.sql.ts';
import { countPayments } from '../../../services/payments/src/reports/report.sql.ts';
import { observeTransfers } from '../../../services/payments/src/settlement/settlement.ts';
import { claimOverdue, expirePayments, measureExpiryLag } from '../../../services/payments/src/expiry/expiry.sql.ts';
import {
  cancelPayment,
  findNearestUnfinished,
  findNewestOnWallet,
  findSlotPayments,
} from '../../../services/payments/src/payment/payment.sql.ts';
import { withDatabase } from '../../support/database.ts';
import { LARGEST, SECOND } from './filled-database.ts';
import { NETWORK } from './payments-process.ts';
import type { Operation } from './statement-costs.ts';
import { transferFor, type PayablePayment } from './transfers.ts';

export const CREATION = 'creation';
export const UNIQUE_CREATION = 'creation: unique amount';

/** Rows of the database that operations use in turn. */
const SAMPLE = 200;
const DAY_MS = 86_400_000;

/** Every frequent operation of merchants, customers, chains and loops. @param payable wait for 7 USDT each. */
export async function paymentOperations(
  { adminUrl, pool }: { adminUrl: string; pool: Pool },
  payable: readonly PayablePayment[],
): Promise<Operation[]> {
  const tx: Transaction = { query: (text, values) => pool.query(text, values), afterCommit: () => undefined };
  const { wallets, payments, places, replies } = await sampleOf(adminUrl);
  const messages = createPaymentMessages({ outbox: writingOutbox, metrics: testMetrics });
  const rules = { ttlSeconds: 1800, walletBinding: true, publicBaseUrl: 'https://pay.example', networks: [] };
  const ordered = (n: number, amount: string): Creation => {
    const { merchant_id, address } = pick(wallets, n);
    return {
      ...{ merchant_id, merchant_wallet: address, network: NETWORK, description: 'Order 12345, two teas' },
      ...{ idempotency_key: randomUUID(), amount, amount_units: parseAmount(amount)! },
    };
  };
  const create = async (creation: Creation, outcome: CreationResult['outcome']): Promise<void> => {
    const [result] = await decideAll(tx, { rules, messages }, [{ creation, origin: {} }], { waits: true });
    if (result?.outcome !== outcome) throw new Error(`a creation was ${result?.outcome}, not ${outcome}`);
  };
  const observe = (payment: Pick<PayablePayment, 'merchant_id' | 'recipient' | 'network'>, amount: string) => {
    const transfer = {
      ...transferFor({ ...payment, amount }),
      phase: 'confirmed',
      version: 1,
      confirmations: 2,
    } as const;
    return observeTransfers({ tx, messages, logger: testLogger }, [transfer]);
  };
  // As in the loop, each measurement begins at the bound that the one before found.
  let bound = (await measureExpiryLag(tx, NETWORK, null)).bound;
  const list = (n: number, filter: Partial<typeof anything>, after: (typeof places)[number] | null = null) =>
    listPayments(pool, LARGEST, {
      networks: [NETWORK],
      filter: { ...anything, ...filter },
      part: { after, limit: 20, order: n % 2 === 0 ? 'newest first' : 'oldest first' },
    });
  const sought = {
    paymentId: null,
    tokenSha256: null,
    orderId: null,
    idEnd: null,
    transactionId: null,
    recipient: null,
  };

  return [
    // No existing amount ends in .5, so the slot is free.
    { name: CREATION, run: (n) => create(ordered(n, `${5_000_000 + n}.5`), 'created') },
    { name: UNIQUE_CREATION, run: (n) => create({ ...ordered(n, '0.50'), unique_amount: true }, 'created') },
    {
      name: 'creation, replayed',
      run: (n) => {
        // The cost is finding the saved reply. Its request is not known here, so this is a conflict.
        return create({ ...ordered(n, '1.5'), ...pick(replies, n) }, 'key_conflict');
      },
    },
    { name: 'details', run: (n) => findDetails(pool, [pick(payments, n)]) },
    { name: 'details: unmatched transfers', run: (n) => findUnmatched(pool, [pick(payments, n).payment_id]) },
    { name: 'page: money that arrived', run: (n) => findNearestCandidate(pool, pick(payments, n)) },
    { name: 'public status', run: (n) => findByPublicTokens(pool, [pick(payments, n).token]) },
    { name: 'list', run: (n) => list(n, {}) },
    { name: 'list: any page', run: (n) => list(n, {}, pick(places, n)) },
    { name: 'list of one status', run: (n) => list(n, { status: 'CANCELLED' }) },
    { name: 'list of a status that no payment has', run: (n) => list(n, { status: 'CHECKING' }) },
    {
      name: 'search by transaction',
      run: (n) => findPayments(pool, { ...sought, transactionId: pick(payments, n).transaction_id }, [NETWORK]),
    },
    {
      name: 'report of a day',
      run: (n) => {
        const { merchant_id, created_at } = pick(payments, n);
        const from = new Date(Math.floor(created_at.getTime() / DAY_MS) * DAY_MS);
        return countPayments(pool, merchant_id, {
          ...{ from, to: new Date(from.getTime() + DAY_MS), group: 'day', by: 'payment', limit: 100 },
        });
      },
    },
    {
      name: 'report of a day, by the chain',
      run: (n) => {
        const { merchant_id, created_at } = pick(payments, n);
        const from = new Date(Math.floor(created_at.getTime() / DAY_MS) * DAY_MS);
        return countPayments(pool, merchant_id, {
          ...{ from, to: new Date(from.getTime() + DAY_MS), group: 'day', by: 'chain', limit: 100 },
        });
      },
    },
    {
      name: 'slot of a transfer',
      run: (n) => {
        const { network, recipient, amount } = pick(payable, n);
        const now = new Date();
        return findSlotPayments(pool, [
          { ...{ network, recipient, amountUnits: parseAmount(amount)! }, startedBefore: now, createdBefore: now },
        ]);
      },
    },
    { name: 'wallet of a transfer: newest', run: (n) => findNewestOnWallet(pool, pick(payments, n), new Date()) },
    {
      name: 'wallet of a transfer: nearest amounts',
      run: (n) => findNearestUnfinished(pool, [{ ...pick(payments, n), amountUnits: BigInt(n % 200) * 1_000_000n }]),
    },
    { name: 'transfer that pays', run: (n) => observe(pick(payable, n), '7') },
    { name: 'transfer that pays nothing', run: (n) => observe(pick(payments, n), '0.07') },
    { name: 'cancel', run: (n) => cancelPayment(pool, pick(payable, n).merchant_id, pick(payable, n).payment_id) },
    {
      name: 'expiry: lag',
      run: async () => {
        ({ bound } = await measureExpiryLag(tx, NETWORK, bound));
      },
    },
    {
      name: 'expiry: claim and expire',
      run: async () => {
        const due = await claimOverdue(pool, NETWORK, { bound, expiredBy: new Date(), limit: 20, leaseMs: 60_000 });
        if (due.length !== 20) throw new Error(`${due.length} of 20 overdue payments were claimed`);
        await expirePayments(
          tx,
          due.map(({ payment_id: id }) => id),
        );
      },
    },
    {
      name: 'outbox: write and claim',
      run: async () => {
        const rows = Array.from({ length: 20 }, () => ({
          ...{ message_id: randomUUID(), name: 'PaymentClosed', version: 1, merchant_id: newId('mer') },
          ...{ body: '{}', request_id: 'r', traceparent: null },
        }));
        await insertMessages(tx, rows);
        const since = new Date(Date.now() - 30_000).toISOString();
        const lease = { relayId: randomUUID(), leaseSeconds: 45, limit: 100 };
        await claimMessages(pool, { ...lease, name: 'PaymentClosed', since, writtenWithin: 2 });
      },
    },
  ];
}

const pick = <T>(rows: readonly T[], n: number): T => rows[n % rows.length] as T;

type SampledPayment = {
  payment_id: string;
  merchant_id: string;
  network: string;
  recipient: string;
  created_at: Date;
  token: string;
  transaction_id: string;
};

async function sampleOf(adminUrl: string) {
  return withDatabase(adminUrl, async (db) => {
    await db.query('set search_path = payments');
    // Without the two largest merchants, whose days grow with the number of payments.
    const { rows: payments } = await db.query<SampledPayment>(
      `select p.payment_id, p.merchant_id, p.network, p.recipient, p.created_at, encode(token_sha256, 'hex') as token,
              coalesce(transaction_id, repeat('0', 64)) as transaction_id
         from (select * from payment where merchant_id > $2 and merchant_id like 'mer_0%' order by random() limit $1) p left join transfer using (payment_id)`,
      [SAMPLE, SECOND],
    );
    const { rows: places } = await db.query<{ paymentId: string; createdAt: Date }>(
      `select payment_id as "paymentId", created_at as "createdAt" from payment where merchant_id = $2 order by random() limit $1`,
      [SAMPLE, LARGEST],
    );
    const { rows: wallets } = await db.query<{ merchant_id: string; address: string }>(
      'select merchant_id, address from wallet order by random() limit $1',
      [SAMPLE],
    );
    const { rows: replies } = await db.query<{ merchant_id: string; idempotency_key: string }>(
      `select merchant_id, idempotency_key from idempotent_reply
        where created_at > now() - interval '28 days' order by random() limit $1`,
      [SAMPLE],
    );
    return { payments, places, wallets, replies };
  });
}

/** Writes what the service's outbox writes. Nothing is sent, because it is rolled back. */
const writingOutbox: Outbox = {
  async sendAll(tx, message, messages) {
    await insertMessages(
      tx,
      messages.map(({ payload, ...options }) => composeMessage(message, payload, options)),
    );
  },
  send: (tx, message, payload) => writingOutbox.sendAll(tx, message, [{ payload }]),
  close: () => Promise.resolve(),
};
