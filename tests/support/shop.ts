import { randomBytes, randomUUID } from 'node:crypto';
import { Wallet } from 'ethers';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/payment.ts';
import type { DeliveryRecord, WebhookEvent } from '@quittance/contracts/webhook.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Stack } from '@quittance/local-stack/stack/stack.ts';

export type ReceivedWebhook = {
  received_at: string;
  host: string;
  path: string;
  headers: Record<string, string>;
  body: WebhookEvent;
  verified: boolean;
};

export type Answer<T> = { status: number; body: T; text: string; headers: Headers };

/** A merchant of its own with its backend: what a test does, it does through the public API, as a merchant would. */
export class Shop {
  readonly #stack: Stack;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly host: string;
  readonly wallet = Wallet.createRandom().address;

  private constructor(stack: Stack, merchantId: string, apiKey: string, host: string) {
    this.#stack = stack;
    this.merchantId = merchantId;
    this.apiKey = apiKey;
    this.host = host;
  }

  static async open(stack: Stack): Promise<Shop> {
    const host = `shop-${randomBytes(4).toString('hex')}.example.com`;
    const answer = await fetch(`${stack.file.gateway_url}/internal/v1/merchants`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Internal-Token': stack.file.internal_token },
      body: JSON.stringify({
        name: host,
        access_type: 'legacy',
        total_limit: 100_000,
        actor: 'tests',
        reason: 'journey',
      }),
    });
    const { merchant_id, api_key } = (await answer.json()) as { merchant_id: string; api_key: string };
    const shop = new Shop(stack, merchant_id, api_key, host);
    const webhook = await shop.call<{ key_id: string; signing_key: string }>('PUT', '/merchant/webhook', {
      url: `https://${host}/webhooks`,
    });
    if (webhook.status !== 200) throw new Error(`the webhook could not be set: ${webhook.status} ${webhook.text}`);
    await stack.backends.receiver.trust(webhook.body.key_id, webhook.body.signing_key);
    return shop;
  }

  async call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const answer = await fetch(`${this.#stack.file.edge_url}/api/v1${path}`, {
      method,
      headers: {
        'X-API-Key': this.apiKey,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: answer.status, body: (isJson ? JSON.parse(text) : null) as T, text, headers: answer.headers };
  }

  /** One creation request; a merchant repeats it with the same key when it fails. */
  create(amount: string, idempotencyKey: string = randomUUID()): Promise<Answer<Payment>> {
    const body = { amount, merchant_wallet: this.wallet, description: 'One cup of coffee' };
    return this.call('POST', '/payments', body, { 'Idempotency-Key': idempotencyKey });
  }

  async pay(amount: string): Promise<{ transactionHash: string; blockNumber: number }> {
    return payOnChain(this.#stack.file.chain, this.wallet, amount);
  }

  async details(paymentId: string): Promise<PaymentDetails> {
    const answer = await this.call<PaymentDetails>('GET', `/payments/${paymentId}/details`);
    if (answer.status !== 200) throw new Error(`details answered ${answer.status} ${answer.text}`);
    return answer.body;
  }

  async limits(): Promise<CreationLimits> {
    return (await this.call<CreationLimits>('GET', '/merchant/limits')).body;
  }

  async deliveries(paymentId: string): Promise<DeliveryRecord[]> {
    return (await this.call<{ deliveries: DeliveryRecord[] }>('GET', `/payments/${paymentId}/webhooks`)).body
      .deliveries;
  }

  /** Everything this merchant's endpoint received so far. */
  async webhooks(): Promise<ReceivedWebhook[]> {
    const answer = await fetch(this.#stack.file.receiver.events_url);
    const { events } = (await answer.json()) as { events: ReceivedWebhook[] };
    return events.filter(({ host }) => host === this.host);
  }
}
