import { randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import { unlimited } from '@quittance/contracts/access.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { callAs, type SigningKeys } from './call-as.ts';
import { callJson } from './call-json.ts';
import { readJson, writePrivateJson, type StackDirectory } from './directory.ts';
import type { DemoMerchant } from './stack-file.ts';

const webhookUrl = 'https://shop.quittance.example/webhooks/quittance';

type Options = SigningKeys & { directory: StackDirectory; gatewayUrl: string };

/** The merchant of the local stack, registered at the first start and kept in `.local`. */
export async function demoMerchant(options: Options): Promise<DemoMerchant> {
  const { merchantFile } = options.directory;
  const kept = await readJson<DemoMerchant>(merchantFile);
  if (kept !== null) return kept;
  const merchant = await registerLocalMerchant(options, 'Demo shop', webhookUrl);
  await writePrivateJson(merchantFile, merchant);
  return merchant;
}

/** A merchant without a webhook. */
export type RegisteredMerchant = Pick<DemoMerchant, 'merchant_id' | 'api_key' | 'rotation_secret' | 'wallet'>;

/** Registers a merchant with the operators' API. Its webhook is set as a merchant would, with the public API. */
export async function registerLocalMerchant(
  options: Omit<Options, 'directory'>,
  name: string,
  webhookUrl: string,
): Promise<DemoMerchant> {
  return setWebhook(options.gatewayUrl, await registerMerchant(options, name), webhookUrl);
}

/** Active at once and without limits, so that trying things never exhausts them. */
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
 * Sets the webhook with the public API, as a merchant does. Only the first answer contains the key: if that answer was lost and the call
 * was repeated, a rotation returns a new key.
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

/** Where the money of a payment goes: to an address of its own from a pool, or to a wallet. */
export type Receiving = { wallet_pool: string } | { merchant_wallet: string };

/**
 * Creates a payment as the merchant's backend would, on the merchant's wallet unless the body names another place. While the service
 * answers 503, it retries with the same idempotency key.
 */
export async function createPayment(
  edgeUrl: string,
  merchant: Pick<DemoMerchant, 'api_key' | 'wallet'>,
  body: { amount: string; description: string } & Partial<Receiving>,
): Promise<Pick<Payment, 'payment_id' | 'payment_url' | 'merchant_wallet'>> {
  const idempotencyKey = randomUUID();
  return callJson(
    `${edgeUrl}/api/v1/payments`,
    'POST',
    { 'X-API-Key': merchant.api_key, 'Idempotency-Key': idempotencyKey },
    'wallet_pool' in body ? body : { merchant_wallet: merchant.wallet, ...body },
  );
}
