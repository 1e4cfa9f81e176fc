import { randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import { unlimited } from '@quittance/contracts/policy-defaults.ts';
import { readJson, StackError, writePrivateJson, type StackDirectory } from './directory.ts';
import type { DemoMerchant } from './stack-file.ts';

const webhookUrl = 'https://shop.quittance.example/webhooks/quittance';

/**
 * The merchant of the local stack: registered by the operator's API the first time and kept in `.local` from then on.
 * Its webhook is configured as a merchant would, through the public API.
 */
export async function demoMerchant(options: {
  directory: StackDirectory;
  gatewayUrl: string;
  internalToken: string;
}): Promise<DemoMerchant> {
  const kept = await readJson<DemoMerchant>(options.directory.merchantFile);
  if (kept !== null) return kept;
  const created = await call<Pick<DemoMerchant, 'merchant_id' | 'api_key' | 'rotation_secret'>>(
    `${options.gatewayUrl}/internal/v1/merchants`,
    'POST',
    { 'X-Internal-Token': options.internalToken },
    {
      name: 'Demo shop',
      // Trying things out never exhausts it.
      ...unlimited,
      actor: 'local-stack',
      reason: 'demo merchant',
    },
  );
  const webhook = await call<Pick<DemoMerchant, 'signing_key' | 'key_id'>>(
    `${options.gatewayUrl}/api/v1/merchant/webhook`,
    'PUT',
    { 'X-API-Key': created.api_key },
    { url: webhookUrl },
  );
  const merchant = {
    ...created,
    webhook_url: webhookUrl,
    signing_key: webhook.signing_key,
    key_id: webhook.key_id,
    wallet: Wallet.createRandom().address,
  };
  await writePrivateJson(options.directory.merchantFile, merchant);
  return merchant;
}

/** Creates a payment as the merchant's backend would. Repeats itself while the service says 503, with the same idempotency key. */
export async function createPayment(
  edgeUrl: string,
  merchant: DemoMerchant,
  body: { amount: string; description: string; merchant_wallet?: string },
): Promise<{ payment_id: string; payment_url: string }> {
  const idempotencyKey = randomUUID();
  return call(
    `${edgeUrl}/api/v1/payments`,
    'POST',
    { 'X-API-Key': merchant.api_key, 'Idempotency-Key': idempotencyKey },
    { merchant_wallet: merchant.wallet, ...body },
  );
}

const attempts = 20;
const attemptPauseMs = 500;

/** One JSON call; 503 and lost connections are tried again for ten seconds, because services find each other while starting. */
async function call<T>(url: string, method: string, headers: Record<string, string>, body: unknown): Promise<T> {
  let last = '';
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const options = { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) };
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(10_000) }).catch((error: unknown) =>
      String(error),
    );
    if (typeof answer !== 'string') {
      const text = await answer.text();
      if (answer.ok) return JSON.parse(text) as T;
      last = `${answer.status} ${text}`;
      if (answer.status !== 503) break;
    } else last = answer;
    await new Promise((resolve) => setTimeout(resolve, attemptPauseMs));
  }
  throw new StackError(`${method} ${url} failed: ${last}`);
}
