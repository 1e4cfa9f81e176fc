import { randomBytes, randomUUID } from 'node:crypto';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { setWebhook } from '@quittance/local-stack/stack/demo-merchant.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { registerMerchant, type Registered, type Registration } from './operator.ts';
import { send, type HttpAnswer, type HttpCall } from './http.ts';
import { codeProblems } from './error-codes.ts';
import { undocumented } from './openapi/undocumented.ts';

/** Sends requests to one base URL and checks every answer against the OpenAPI document. */
export type Api = (method: string, path: string, call?: HttpCall) => Promise<HttpAnswer>;

/** @param baseUrl the edge's, or that of one gateway replica. */
export const apiAt =
  (baseUrl: string): Api =>
  async (method, path, call) => {
    const answer = await send(method, baseUrl + path, call);
    const problems = [...undocumented(method, path, answer), ...codeProblems(answer)];
    if (problems.length > 0) {
      throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}\n${problems.join('\n')}`);
    }
    return answer;
  };

/** Optional fields of a creation. With TEST_EXTENSIONS=present every creation has them, and all rules must hold as without. */
export const extensions =
  process.env['TEST_EXTENSIONS'] === 'present'
    ? {
        order_id: 'order 17',
        metadata: { basket: 'a-1', 'till.no': '3' },
        return_url: 'https://shop.example.com/orders/17',
        expires_in: 1800,
        unique_amount: false,
      }
    : {};

/** The same fields in a payment's JSON and in its PAID event. */
const { order_id = null, metadata = {}, return_url = null }: Partial<Payment> = extensions;
export const shownExtensions = { order_id, metadata, return_url };
export const toldExtensions = order_id === null ? {} : { order_id, metadata };

export type Merchant = {
  merchantId: string;
  apiKey: string;
  rotationSecret: string;
  /** Host of its webhook endpoint, different for each merchant. */
  host: string;
  /** A new wallet. */
  wallet: string;
  /** Sends a request with this merchant's API key, through the edge. */
  call: Api;
  /** POST /api/v1/payments with a new Idempotency-Key, unless `key` is given, and a valid body, unless changed by `body`. */
  create: (body?: Record<string, unknown>, key?: string) => Promise<HttpAnswer>;
  /** The same. @throws unless it succeeds. */
  created: (body?: Record<string, unknown>, key?: string) => Promise<Payment>;
};

/** Registers a merchant. Unless `webhook` is false, its webhook is set and the receiver knows its key. */
export async function openMerchant(
  stack: StackFile,
  { webhook = true, ...access }: Partial<Registration> & { webhook?: boolean } = {},
): Promise<Merchant> {
  const host = `shop-${randomBytes(6).toString('hex')}.example.com`;
  const registered = await registerMerchant(stack, host, access);
  const merchant = withKey(stack, registered, host);
  if (webhook) {
    const { key_id, signing_key } = await setWebhook(stack.edge_url, registered, `https://${host}/hooks`);
    await trust(stack, key_id, signing_key);
  }
  return merchant;
}

/** Lets the local receiver verify deliveries that this key signed. */
export async function trust(stack: StackFile, keyId: string, signingKey: string): Promise<void> {
  const answer = await send('POST', `${stack.receiver.url}/keys`, {
    body: { key_id: keyId, signing_key: signingKey },
  });
  if (answer.status !== 204) throw new Error(`the receiver refused the key: ${answer.text}`);
}

function withKey(stack: StackFile, registered: Registered, host: string): Merchant {
  const { merchant_id: merchantId, api_key: apiKey, rotation_secret: rotationSecret } = registered;
  const wallet = newWallet();
  const edge = apiAt(stack.edge_url);
  const call: Api = (method, path, options = {}) =>
    edge(method, path, { ...options, headers: { 'X-API-Key': apiKey, ...options.headers } });
  const create = (body: Record<string, unknown> = {}, key: string = randomUUID()) =>
    call('POST', '/api/v1/payments', {
      headers: { 'Idempotency-Key': key },
      body: { amount: '10.50', merchant_wallet: wallet, description: 'One cup of coffee', ...extensions, ...body },
    });
  const created = async (body?: Record<string, unknown>, key: string = randomUUID()) => {
    const answer = await insist(() => create(body, key));
    if (answer.status !== 201) throw new Error(`the creation was answered ${answer.status} ${answer.text}`);
    return answer.json<Payment>();
  };
  return { merchantId, apiKey, rotationSecret, host, wallet, call, create, created };
}
