import { randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import { unlimited } from '@quittance/contracts/access.ts';
import { callAs, type SigningKeys } from './call-as.ts';
import { callJson } from './call-json.ts';
import { readJson, writePrivateJson, type StackDirectory } from './directory.ts';
import type { DemoMerchant } from './stack-file.ts';

const webhookUrl = 'https://shop.quittance.example/webhooks/quittance';

type Options = SigningKeys & { directory: StackDirectory; gatewayUrl: string };

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
  options: Omit<Options, 'directory'>,
  name: string,
  webhookUrl: string,
): Promise<DemoMerchant> {
  return setWebhook(options.gatewayUrl, await registerMerchant(options, name), webhookUrl);
}

/** Active at once, and without limits, so that trying things out never exhausts it. */
export async function registerMerchant(
  { gatewayUrl, ...keys }: Omit<Options, 'directory'>,
  name: string,
): Promise<RegisteredMerchant> {
  const created = await callJson<Omit<RegisteredMerchant, 'wallet'>>(
    `${gatewayUrl}/internal/v1/merchants`,
    'POST',
    callAs(keys, 'api-gateway'),
    { name, ...unlimited, actor: 'local-stack', reason: 'to try things out' },
  );
  return { ...created, wallet: Wallet.createRandom().address };
}

type SigningKey = Pick<DemoMerchant, 'signing_key' | 'key_id'>;

/**
 * Through the public API, as the merchant itself does it. Only a first answer has the key: where that one was late, and was asked for
 * again, another key is had by rotation.
 */
export async function setWebhook<M extends { api_key: string }>(
  gatewayUrl: string,
  merchant: M,
  webhookUrl: string,
): Promise<M & SigningKey & { webhook_url: string }> {
  const endpoint = `${gatewayUrl}/api/v1/merchant/webhook`;
  const headers = { 'X-API-Key': merchant.api_key };
  const first = await callJson<SigningKey | { key_id: string }>(endpoint, 'PUT', headers, { url: webhookUrl });
  const key = 'signing_key' in first ? first : await callJson<SigningKey>(`${endpoint}/rotate-key`, 'POST', headers);
  return { ...merchant, webhook_url: webhookUrl, signing_key: key.signing_key, key_id: key.key_id };
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
