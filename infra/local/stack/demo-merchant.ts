import { randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import { unlimited } from '@quittance/contracts/policy-defaults.ts';
import { callJson } from './call-json.ts';
import { readJson, writePrivateJson, type StackDirectory } from './directory.ts';
import type { DemoMerchant } from './stack-file.ts';

const webhookUrl = 'https://shop.quittance.example/webhooks/quittance';

type Options = { directory: StackDirectory; gatewayUrl: string; internalToken: string };

/** The merchant of the local stack: registered the first time and kept in `.local` from then on. */
export async function demoMerchant(options: Options): Promise<DemoMerchant> {
  const { merchantFile } = options.directory;
  const kept = await readJson<DemoMerchant>(merchantFile);
  if (kept !== null) return kept;
  const merchant = await registerLocalMerchant(options, 'Demo shop', webhookUrl);
  await writePrivateJson(merchantFile, merchant);
  return merchant;
}

/** What a merchant is before it has a webhook. */
export type RegisteredMerchant = Pick<DemoMerchant, 'merchant_id' | 'api_key' | 'rotation_secret' | 'wallet'>;

/** Registers a merchant by the operator's API; its webhook is configured as a merchant would, through the public one. */
export async function registerLocalMerchant(
  options: Pick<Options, 'gatewayUrl' | 'internalToken'>,
  name: string,
  webhookUrl: string,
): Promise<DemoMerchant> {
  return setWebhook(options.gatewayUrl, await registerMerchant(options, name), webhookUrl);
}

/** Active at once, and without limits, so that trying things out never exhausts it. */
export async function registerMerchant(
  { gatewayUrl, internalToken }: Pick<Options, 'gatewayUrl' | 'internalToken'>,
  name: string,
): Promise<RegisteredMerchant> {
  const created = await callJson<Omit<RegisteredMerchant, 'wallet'>>(
    `${gatewayUrl}/internal/v1/merchants`,
    'POST',
    { 'X-Internal-Token': internalToken },
    { name, ...unlimited, actor: 'local-stack', reason: 'to try things out' },
  );
  return { ...created, wallet: Wallet.createRandom().address };
}

/** Through the public API, as the merchant itself does it. */
export async function setWebhook(
  gatewayUrl: string,
  merchant: RegisteredMerchant,
  webhookUrl: string,
): Promise<DemoMerchant> {
  const { signing_key, key_id } = await callJson<Pick<DemoMerchant, 'signing_key' | 'key_id'>>(
    `${gatewayUrl}/api/v1/merchant/webhook`,
    'PUT',
    { 'X-API-Key': merchant.api_key },
    { url: webhookUrl },
  );
  return { ...merchant, webhook_url: webhookUrl, signing_key, key_id };
}

/** Creates a payment as the merchant's backend would. Repeats itself while the service says 503, with the same idempotency key. */
export async function createPayment(
  edgeUrl: string,
  merchant: DemoMerchant,
  body: { amount: string; description: string; merchant_wallet?: string },
): Promise<{ payment_id: string; payment_url: string }> {
  const idempotencyKey = randomUUID();
  return callJson(
    `${edgeUrl}/api/v1/payments`,
    'POST',
    { 'X-API-Key': merchant.api_key, 'Idempotency-Key': idempotencyKey },
    { merchant_wallet: merchant.wallet, ...body },
  );
}
