import { randomBytes } from 'node:crypto';
import { type AccessPolicy } from '@quittance/contracts/access.ts';
import { addressFromHex } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { CreationRequest } from '@quittance/contracts/api/creation.ts';
import type { BodyOf, ResponseOf } from '@quittance/contracts/call.ts';
import type { ReadPaymentDetails } from '@quittance/contracts/http/payments/payments.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { applyPolicy, markWebhookConfigured } from '../src/gate/gate.sql.ts';
import { type Answer, type CallInit, network, type PaymentsUnderTest } from './service.ts';

export const newWallet = (): string => addressFromHex('evm', `0x${randomBytes(20).toString('hex')}`);

export const newKey = (): string => randomBytes(8).toString('hex');

/** A legacy policy with plenty left, changed as the test needs. */
export const policyOf = (merchantId: string, change: Partial<AccessPolicy> = {}): AccessPolicy => ({
  merchant_id: merchantId,
  policy_version: 1,
  access_type: 'legacy',
  account_active: true,
  creation_paused: false,
  beta_duration_days: null,
  beta_started_at: null,
  beta_expires_at: null,
  total_limit: 1_000_000,
  daily_limit: null,
  package_number: 1,
  ...change,
});

/** A merchant that may create: payments and the owners both have its policy and endpoint. */
export async function newMerchant(payments: PaymentsUnderTest, change: Partial<AccessPolicy> = {}): Promise<string> {
  const merchantId = newId('mer');
  const policy = policyOf(merchantId, change);
  payments.stubs.policies.set(merchantId, policy);
  payments.stubs.endpoints.add(merchantId);
  await transaction(payments.db, async (tx) => {
    await applyPolicy(tx, policy);
    await markWebhookConfigured(tx, merchantId);
  });
  return merchantId;
}

/** What a list answers. */
export type PaymentPage = { payments: Payment[]; next_cursor: string | null };

export type Order = {
  key: string;
  amount: string;
  wallet: string;
  description: string;
  network: string;
  /** Optional fields of the request. */
  options: Omit<CreationRequest, 'amount' | 'merchant_wallet' | 'network' | 'description'>;
};

/** Requests a payment; fields that are not given are new and unique. */
export function create(
  payments: PaymentsUnderTest,
  merchantId: string,
  order: Partial<Order> = {},
  init: CallInit = {},
): Promise<Answer<Payment>> {
  const body = {
    idempotency_key: order.key ?? newKey(),
    amount: order.amount ?? '10.50',
    ...(order.options?.wallet_pool === undefined && {
      merchant_wallet: order.wallet ?? newWallet(),
      network: order.network ?? network,
    }),
    description: order.description ?? 'Two tickets',
    ...order.options,
  };
  return payments.call('POST', `/merchants/${merchantId}/payments`, body, init);
}

/** A new payment of a new merchant, and the calls that a test makes about it. */
export async function newPayment(payments: PaymentsUnderTest, order: Partial<Order> = {}, merchant?: string) {
  const merchantId = merchant ?? (await newMerchant(payments));
  const wanted = { key: newKey(), wallet: newWallet(), ...order };
  const answer = await create(payments, merchantId, wanted);
  if (answer.status !== 201) throw new Error(`creation answered ${answer.status}: ${answer.text}`);
  const payment: Payment = answer.json;
  const path = `/merchants/${merchantId}/payments/${payment.payment_id}`;
  return {
    merchantId,
    payment,
    details: () => readDetails(payments, merchantId, payment.payment_id),
    cancel: () => payments.call<Payment>('POST', `${path}/cancel`),
    /** Publishes a transfer of the payment's amount as seen, or as the test changes it. */
    observe: (transfer: Partial<TransferObserved> = {}) => {
      const message = transferFor(merchantId, payment, transfer);
      return payments.publish(TransferObserved, message).then(() => message);
    },
    /** Makes the payment this much older, including its window. */
    age: (minutes: number) =>
      payments.db.query(
        `update payment set created_at = created_at - $2 * interval '1 minute', expires_at = expires_at - $2 * interval '1 minute',
                            expiry_check_at = expiry_check_at - $2 * interval '1 minute' where payment_id = $1`,
        [payment.payment_id, minutes],
      ),
  };
}

/** @throws TypeError when the merchant has no such payment. */
async function readDetails(
  payments: PaymentsUnderTest,
  merchantId: string,
  paymentId: string,
): Promise<PaymentDetails> {
  const json: BodyOf<typeof ReadPaymentDetails> = { payments: [{ merchant_id: merchantId, payment_id: paymentId }] };
  const answer = await payments.call<ResponseOf<typeof ReadPaymentDetails>>('POST', '/payment-details', json);
  return answer.json.found[0]!.payment;
}

/** How often each message about a payment has been sent: committed ones count, received or not. */
export async function countSent({ db }: PaymentsUnderTest, { payment }: TestPayment): Promise<Record<string, number>> {
  const { rows } = await db.query<{ name: string; count: number }>(
    `select name, count(*)::int from (select name, body from outbox union all select name, body from sent_message) as message
      where body::json ->> 'payment_id' = $1 group by name`,
    [payment.payment_id],
  );
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

export type TestPayment = Awaited<ReturnType<typeof newPayment>>;

/** The transfer that chain-watcher would publish if it paid this payment a second after its creation. */
export function transferFor(
  merchantId: string,
  payment: Payment,
  change: Partial<TransferObserved> = {},
): TransferObserved {
  return {
    merchant_id: merchantId,
    network: payment.network,
    transaction_id: randomBytes(32).toString('hex'),
    transaction_event_index: 3,
    block_number: 1234,
    block_hash: `0x${randomBytes(32).toString('hex')}`,
    block_timestamp: wholeSecond(payment.created_at, 1),
    from: newWallet(),
    to: payment.merchant_wallet,
    amount_units: String(parseAmount(payment.amount)),
    decimals: 6,
    phase: 'seen',
    version: 1,
    confirmations: 1,
    confirmations_required: 2,
    ...change,
  };
}

/** A block's time: whole seconds, this many after a moment. */
export const wholeSecond = (moment: string | Date, seconds: number): string =>
  new Date(Math.floor(new Date(moment).getTime() / 1000) * 1000 + seconds * 1000).toISOString();
