import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { Wallet } from 'ethers';
import { ensureCertificateAuthority } from '@quittance/local-backends/certificates.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { trustKey } from '@quittance/local-stack/receiver/process.ts';
import { createPayment, setWebhook, type RegisteredMerchant } from '@quittance/local-stack/stack/demo-merchant.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { toTokenUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Project } from './compose.ts';
import { patience } from './docker.ts';

/** The merchant of a deployment, and its customers. */
export type Shop = {
  /** Creates a payment, pays it on the chain, and waits until it is PAID and its webhook is received and verified. @returns its id. */
  pay(): Promise<string>;
};

/** @property dispatcher the service that sends webhooks. */
type Places = { edgeUrl: string; chainUrl: string; receiverPort: number; dispatcher: string };
type Received = { body: { payment_id: string; status: string }; verified: boolean };

/** In no public DNS. The exception sets its address, which is that of shop.yml. */
const host = 'shop.internal';
const address = '10.213.254.10:8443';

/** The authority that signs the receiver's certificate. Both containers read it as their own users. */
export async function prepareShop(folder: string): Promise<void> {
  const files = await ensureCertificateAuthority(join(folder, 'shop'));
  await chmod(files.keyFile, 0o644);
}

/** As in docs/go-live.md and docs/operations.md: a merchant without limits, an exception for its endpoint, a webhook. */
export async function openShop(
  project: Project,
  places: Places,
  ops: (...words: string[]) => Promise<string>,
): Promise<Shop> {
  const { edgeUrl, chainUrl, receiverPort } = places;
  const created = JSON.parse(
    await ops(
      'merchant',
      'create',
      '--name',
      'My shop',
      '--unlimited',
      '--actor',
      'engine',
      '--reason',
      'going live',
      '--json',
    ),
  ) as RegisteredMerchant;
  await project.set({
    WEBHOOK_PRIVATE_TARGETS: `${created.merchant_id}@${host}=${address}`,
    WEBHOOK_PRIVATE_TARGETS_CA: '/etc/quittance/private-targets.pem',
  });
  // The dispatcher reads both when it starts.
  await project.up(places.dispatcher);
  const registered = { ...created, wallet: Wallet.createRandom().address };
  const url = `https://${host}/webhooks/quittance`;
  const merchant = await eventually(() => setWebhook(edgeUrl, registered, url), patience);
  const receiverUrl = `http://127.0.0.1:${receiverPort}`;

  return {
    pay: async () => {
      // A new container of the receiver does not have the key yet.
      await eventually(() => trustKey(receiverUrl, merchant.key_id, merchant.signing_key), patience);
      const amount = (1 + Math.random() * 90).toFixed(6);
      const order = { amount, description: 'Paid on an engine' };
      const payment = await eventually(() => createPayment(edgeUrl, merchant, order), patience);
      const token = await eventually(() => ensureToken(chainUrl), patience);
      await token.pay(merchant.wallet, toTokenUnits(parseAmount(amount)!, token.decimals));
      await eventually(() => isPaid(edgeUrl, payment.payment_url), patience);
      await eventually(async () => {
        const { events } = (await (await fetch(`${receiverUrl}/events`)).json()) as { events: Received[] };
        const event = events.find(({ body }) => body.payment_id === payment.payment_id);
        if (event?.body.status !== 'PAID' || !event.verified)
          throw new Error(`the webhook of ${payment.payment_id} is ${JSON.stringify(event ?? 'not here')}`);
      }, patience);
      return payment.payment_id;
    },
  };
}

async function isPaid(edgeUrl: string, paymentUrl: string): Promise<void> {
  const token = paymentUrl.slice(paymentUrl.lastIndexOf('/') + 1);
  const answer = await fetch(`${edgeUrl}/api/v1/payments/${token}`);
  const text = await answer.text();
  if (!text.includes('"status":"PAID"')) throw new Error(`${paymentUrl} answers ${answer.status} ${text}`);
}
