import { randomUUID } from 'node:crypto';
import { HDNodeWallet } from 'ethers/wallet';
import { payOnChain } from '@quittance/local-stack/stack/pay.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from './http.ts';
import { apiAt, type Merchant } from './merchant.ts';
import { note, type Needles } from './needles.ts';
import { patience } from './paying.ts';

/**
 * Gets every secret a merchant can get, and sends each in a wrong place, as careless callers do.
 * @returns the X-Request-ID of its last request.
 */
export async function live(
  stack: StackFile,
  merchant: Merchant,
  { credentials, tokens, refusals }: { credentials: Needles; tokens: Needles; refusals: string[] },
): Promise<string> {
  const anybody = apiAt(stack.edge_url);
  let key = merchant.apiKey;
  const call: Merchant['call'] = (method, path, options = {}) =>
    anybody(method, path, { ...options, headers: { 'X-API-Key': key, ...options.headers } });
  note(credentials, 'API key', key);
  note(credentials, 'rotation secret', merchant.rotationSecret);

  const put = await call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://${merchant.host}/hooks` } });
  note(credentials, 'signing key', put.json<{ signing_key: string }>().signing_key);
  const rotated = await call('POST', '/api/v1/merchant/webhook/rotate-key');
  note(credentials, 'rotated signing key', rotated.json<{ signing_key: string }>().signing_key);
  const answer = await anybody('POST', '/api/v1/merchant/rotate-key', {
    headers: { 'secret-key': merchant.rotationSecret },
  });
  key = answer.json<{ new_api_key: string }>().new_api_key;
  note(credentials, 'rotated API key', key);

  const creation = { amount: '2.02', merchant_wallet: merchant.wallet, description: 'Nothing secret' };
  const created = await call('POST', '/api/v1/payments', {
    headers: { 'Idempotency-Key': randomUUID() },
    body: creation,
  });
  type Created = { payment_id: string; payment_url: string; network: string };
  const { payment_id: paymentId, payment_url: link, network } = created.json<Created>();
  const token = link.split('/').at(-1)!;
  note(tokens, 'public token', token);

  const account = HDNodeWallet.createRandom('', `m/44'/60'/0'`);
  const pool = { network, expect_first_address: account.deriveChild(0).deriveChild(0).address };
  const putPool = (body: object) => call('PUT', '/api/v1/merchant/wallet-pools/shop', { body });
  const [xpub, xprv] = [account.neuter().extendedKey, account.extendedKey];
  note(credentials, 'extended public key', xpub);
  note(credentials, 'extended private key', xprv);
  await putPool({ ...pool, xpub });

  const secrets = [
    xprv,
    merchant.apiKey,
    key,
    merchant.rotationSecret,
    put.json<{ signing_key: string }>().signing_key,
    token,
  ];
  const answers = await Promise.all(
    secrets.flatMap((secret) => [
      anybody('GET', `/api/v1/payments?api_key=${secret}`),
      anybody('GET', `/api/v1/payments/${secret}`),
      anybody('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': `${secret}x` } }),
      anybody('GET', '/api/v1/payments', { headers: { Authorization: `Bearer ${secret}`, 'X-API-Key': `${secret}x` } }),
      call('GET', `/api/v1/payments/page?cursor=${secret}`),
      call('GET', `/api/v1/payments/${secret}/details`),
      call('POST', `/api/v1/merchant/webhook/events/${secret}/retry`),
      call('PUT', '/api/v1/merchant/webhook', { body: { url: `https://u:${secret}@shop.example.com/` } }),
      call('POST', '/api/v1/payments', {
        headers: { 'Idempotency-Key': `${secret} é` },
        body: { ...creation, amount: secret, merchant_wallet: secret, network: secret, api_key: secret },
      }),
      putPool({ ...pool, xpub: secret }),
      putPool({ network: secret, addresses: [secret] }),
      send('GET', `${stack.edge_url}/pay/${secret}`),
      send('GET', `${stack.edge_url}/${secret}`),
    ]),
  );
  refusals.push(...answers.filter(({ status }) => status >= 400).map(({ text }) => text));
  await payOnChain(stack.chain, merchant.wallet, '2.02');
  return eventually(async () => {
    const deliveries = await call('GET', `/api/v1/payments/${paymentId}/webhooks`);
    if (!deliveries.text.includes('"status":"delivered"')) throw new Error(`not yet: ${deliveries.text}`);
    return String(deliveries.headers['x-request-id']);
  }, patience);
}
