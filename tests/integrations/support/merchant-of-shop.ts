import { forwardWebhooks } from '@quittance/local-stack/receiver/process.ts';
import { ensurePool } from '@quittance/local-stack/stack/wallet-pool.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { setWebhook } from '@quittance/local-stack/stack/demo-merchant.ts';
import type { PaymentDetails } from '@quittance/contracts/api/payment.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { openMerchant, trust } from '../../support/merchant.ts';
import { patience } from '../../support/paying.ts';
import { answerWith, receivedBy, type Received as Webhook } from '../../support/receiver.ts';
import { send } from '../../support/http.ts';

/** A webhook with the status that the shop answered. */
type Answered = Webhook & { answer: string | null };

export type ShopsMerchant = {
  apiKey: string;
  keyId: string;
  signingKey: string;
  wallet: string;
  details(paymentId: string): Promise<PaymentDetails>;
  pay(paymentId: string, amount?: string): Promise<void>;
  /** From now on, webhooks are answered with an error, until they are released to the shop again. */
  holdWebhooks(): Promise<void>;
  releaseWebhooks(): Promise<void>;
  /** The webhook that says PAID, as soon as the shop has taken it. */
  paidWebhook(paymentId: string): Promise<Answered>;
};

/** A merchant with a pool, whose webhooks go to the shop. @param endpoint the shop's. */
export async function merchantOfShop(stack: StackFile, endpoint: string): Promise<ShopsMerchant> {
  const merchant = await openMerchant(stack, { webhook: false });
  const { key_id: keyId, signing_key: signingKey } = await setWebhook(
    stack.edge_url,
    { api_key: merchant.apiKey },
    `https://${merchant.host}/hooks`,
  );
  await trust(stack, keyId, signingKey);
  await ensurePool(stack.gateway_url, { api_key: merchant.apiKey }, 'shop');
  const releaseWebhooks = () => forwardWebhooks(stack.receiver.url, endpoint, merchant.host);
  await releaseWebhooks();
  const details = async (paymentId: string): Promise<PaymentDetails> => {
    const answer = await merchant.call('GET', `/api/v1/payments/${paymentId}/details`);
    if (answer.status !== 200) throw new Error(`details answered ${answer.status} ${answer.text}`);
    return answer.json<PaymentDetails>();
  };
  return {
    ...{ apiKey: merchant.apiKey, keyId, signingKey, wallet: merchant.wallet, details, releaseWebhooks },
    holdWebhooks: () => answerWith(stack, merchant.host, { status: 503 }),
    async pay(paymentId, amount) {
      const payment = await details(paymentId);
      await payOnChain(stack.chain, payment.merchant_wallet, amount ?? payment.amount);
    },
    paidWebhook: (paymentId) =>
      eventually(async () => {
        const received = (await receivedBy(stack, merchant.host)) as Answered[];
        const found = received.find(({ body, answer }) => body.payment_id === paymentId && /^2/.test(answer ?? ''));
        if (found === undefined) throw new Error(`no webhook about ${paymentId} has been taken`);
        return found;
      }, patience),
  };
}

/** Delivers a webhook once more, byte for byte, unless `body` replaces its body. @returns the status of the answer. */
export async function deliverAgain(endpoint: string, webhook: Webhook, body = webhook.raw_body): Promise<number> {
  const headers = Object.fromEntries(
    Object.entries(webhook.headers).filter(([name]) => name.startsWith('x-service-') || name === 'content-type'),
  );
  return (await send('POST', endpoint, { headers, body })).status;
}
