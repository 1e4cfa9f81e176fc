import { randomBytes, randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { addressFromHex, type AddressFamily } from '@quittance/contracts/address.ts';
import type { CreationLimits } from '@quittance/contracts/access.ts';
import type { Payment, PaymentDetails } from '@quittance/contracts/api/payment.ts';
import type { DeliveryRecord, WebhookEvent } from '@quittance/contracts/webhook.ts';
import { setWebhook } from '@quittance/local-stack/stack/demo-merchant.ts';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { Stack } from '@quittance/local-stack/stack/stack.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { registerMerchant } from './operator.ts';
import { send } from './http.ts';

export type ReceivedWebhook = {
  received_at: string;
  host: string;
  path: string;
  headers: Record<string, string>;
  body: WebhookEvent;
  verified: boolean;
};

export type Answer<T> = { status: number; body: T; text: string; headers: IncomingHttpHeaders };

/** A new merchant with its backend. Everything is done through the public API, as a merchant would. */
export class Shop {
  readonly #stack: Stack;
  readonly apiKey: string;
  readonly merchantId: string;
  readonly host: string;
  readonly wallet: string;
  /** The keys of its webhooks, by key id. */
  readonly signingKeys: Record<string, string> = {};

  private constructor(stack: Stack, merchantId: string, apiKey: string, host: string, family: AddressFamily) {
    this.#stack = stack;
    this.wallet = addressFromHex(family, newWallet());
    this.merchantId = merchantId;
    this.apiKey = apiKey;
    this.host = host;
  }

  /** @param family of its wallet. */
  static async open(stack: Stack, family: AddressFamily = 'evm'): Promise<Shop> {
    const shop = await Shop.withoutWebhook(stack, family);
    const { host, apiKey: api_key } = shop;
    const url = `https://${host}/webhooks`;
    const { key_id: keyId, signing_key: signingKey } = await setWebhook(stack.file.gateway_url, { api_key }, url);
    shop.signingKeys[keyId] = signingKey;
    await stack.backends.receiver.trust(keyId, signingKey);
    return shop;
  }

  /** It cannot create payments until it has a webhook or notices. */
  static async withoutWebhook(stack: Stack, family: AddressFamily = 'evm'): Promise<Shop> {
    const host = `shop-${randomBytes(4).toString('hex')}.example.com`;
    const { merchant_id, api_key } = await registerMerchant(stack.file, host);
    return new Shop(stack, merchant_id, api_key, host, family);
  }

  /** Each request comes from a different address, so that the edge's limits for one client don't slow down tests. */
  async call<T>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const {
      status,
      headers: received,
      text,
    } = await send(method, `${this.#stack.file.edge_url}/api/v1${path}`, {
      headers: {
        'X-API-Key': this.apiKey,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = received['content-type']?.startsWith('application/json') === true;
    return { status, body: (isJson ? JSON.parse(text) : null) as T, text, headers: received };
  }

  /** One creation request; a merchant repeats it with the same key when it fails. */
  create(
    amount: string,
    idempotencyKey: string = randomUUID(),
    wallet: string = this.wallet,
  ): Promise<Answer<Payment>> {
    const body = { amount, merchant_wallet: wallet, description: 'One cup of coffee' };
    return this.call('POST', '/payments', body, { 'Idempotency-Key': idempotencyKey });
  }

  /** As create(), repeated with its key while it is 503. @throws for any status other than 201. */
  async createOrThrow(amount: string): Promise<Payment> {
    const idempotencyKey = randomUUID();
    const { status, text, body } = await insist(() => this.create(amount, idempotencyKey));
    if (status !== 201) throw new Error(`the creation of ${amount} answered ${status} ${text}`);
    return body;
  }

  /** As create(), with optional fields, and another wallet if the merchant has several. */
  order(body: { amount: string } & Record<string, unknown>): Promise<Answer<Payment>> {
    const defaults = { merchant_wallet: this.wallet, description: 'One cup of coffee' };
    return this.call('POST', '/payments', { ...defaults, ...body }, { 'Idempotency-Key': randomUUID() });
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

  /** Everything this merchant's endpoint has received so far. */
  async webhooks(): Promise<ReceivedWebhook[]> {
    const answer = await fetch(this.#stack.file.receiver.events_url);
    const { events } = (await answer.json()) as { events: ReceivedWebhook[] };
    return events.filter(({ host }) => host === this.host);
  }
}
