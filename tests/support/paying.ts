import type { Payment, PaymentDetails, PaymentStatus, PublicPayment } from '@quittance/contracts/api/payment.ts';
import type { DeliveryRecord } from '@quittance/contracts/webhook.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { inDatabase } from './database.ts';
import { apiAt, type Merchant } from './merchant.ts';

/** A payment takes seconds on the local chain. This interval stays below every read limit. */
export const patience = { intervalMs: 600 };

export const tokenOf = (payment: Pick<Payment, 'payment_url'>): string => payment.payment_url.split('/').at(-1) ?? '';

/** What anyone with the checkout link sees, through the edge. */
export async function publicStatus(stack: StackFile, payment: Payment): Promise<PublicPayment> {
  const answer = await apiAt(stack.edge_url)('GET', `/api/v1/payments/${tokenOf(payment)}`);
  if (answer.status !== 200) throw new Error(`the public status answered ${answer.status} ${answer.text}`);
  return answer.json<PublicPayment>();
}

/** Waits with the public status, which does not count towards the merchant's read limit. */
export async function untilStatus(stack: StackFile, payment: Payment, status: PaymentStatus): Promise<void> {
  await eventually(async () => {
    const seen = (await publicStatus(stack, payment)).status;
    if (seen !== status) throw new Error(`${payment.payment_id} is ${seen}, not ${status}`);
  }, patience);
}

export async function detailsOf(merchant: Merchant, { payment_id: id }: Payment): Promise<PaymentDetails> {
  const answer = await merchant.call('GET', `/api/v1/payments/${id}/details`);
  if (answer.status !== 200) throw new Error(`details answered ${answer.status} ${answer.text}`);
  return answer.json<PaymentDetails>();
}

export async function deliveriesOf(merchant: Merchant, { payment_id: id }: Payment): Promise<DeliveryRecord[]> {
  const answer = await merchant.call('GET', `/api/v1/payments/${id}/webhooks`);
  if (answer.status !== 200) throw new Error(`webhooks answered ${answer.status} ${answer.text}`);
  return answer.json<{ deliveries: DeliveryRecord[] }>().deliveries;
}

/** Waits until the record of a payment's only event satisfies the condition. */
export async function untilRecord(
  { merchant, payment }: { merchant: Merchant; payment: Payment },
  isReached: (record: DeliveryRecord) => boolean,
): Promise<DeliveryRecord> {
  return eventually(async () => {
    const [record] = await deliveriesOf(merchant, payment);
    if (record === undefined || !isReached(record)) throw new Error(`not yet: ${JSON.stringify(record)}`);
    return record;
  }, patience);
}

/** Creates a payment and pays it on the local chain. @returns the payment as created, once it is PAID. */
export async function createAndPay(stack: StackFile, merchant: Merchant, body: Record<string, unknown> = {}) {
  const payment = await merchant.created(body);
  await payOnChain(stack.chain, payment.merchant_wallet, payment.amount);
  await untilStatus(stack, payment, 'PAID');
  return payment;
}

/** Moves the end of a payment's window to a second after its beginning. The service then finds by itself that it has expired. */
export async function expireSoon(stack: StackFile, { payment_id: id }: Payment): Promise<void> {
  await inDatabase(
    stack,
    `update payments.payment set expires_at = created_at + interval '1 second', expiry_check_at = now() where payment_id = $1`,
    [id],
  );
}
