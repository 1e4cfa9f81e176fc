import { beforeAll, describe, expect } from '@jest/globals';
import { newSecret } from '@quittance/contracts/ids.ts';
import type { Contract } from '../conformance.test.ts';
import { asOperator } from '../../support/operator.ts';
import { apiAt, openMerchant, type Api, type Merchant } from '../../support/merchant.ts';
import { tokenOf } from '../../support/paying.ts';
import { protectedEndpoints, type Endpoint } from '../../support/protected-endpoints.ts';
import { rule } from '../support/rule.ts';

type Headers = Record<string, string | string[]>;

/** Authentication: the API key, the public token, and what is neither. The rotation of keys is in key-rotation.ts. */
export function credentialsSection(contract: Contract): void {
  describe('credentials', () => {
    let merchant: Merchant;
    let anybody: Api;

    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      anybody = apiAt(contract.stack.edge_url);
    });

    const replicas = () => contract.stack.services['api-gateway'].replicas.map(({ url }) => apiAt(url));

    const sent = ({ method, path, call }: Endpoint, headers: Headers, query = '') =>
      anybody(method, path + query, { ...call, headers: { ...call.headers, ...headers } });

    /** Every endpoint must refuse it with the same bytes, so that no answer distinguishes a wrong key from a missing one. */
    async function expectRefused(what: string, headers: Headers, query = ''): Promise<void> {
      const answers = await Promise.all(protectedEndpoints.map((endpoint) => sent(endpoint, headers, query)));
      const told = answers.map(({ status, text }, index) => `${name(index)}, ${what}: ${status} ${text}`);
      const wanted = '401 {"detail":"Missing or invalid API key","code":"unauthorized"}';
      expect(told).toEqual(protectedEndpoints.map((_, index) => `${name(index)}, ${what}: ${wanted}`));
    }
    const name = (index: number) => `${protectedEndpoints[index]!.method} ${protectedEndpoints[index]!.path}`;

    rule(
      ['auth.1', 'auth.3', 'errors.401', 'errors.body.1'],
      'each protected endpoint refuses a missing, empty, wrong, altered, doubled or oversized key with the same 401',
      async () => {
        const { apiKey } = merchant;
        await expectRefused('no key', {});
        await expectRefused('an empty key', { 'X-API-Key': '' });
        await expectRefused('an unknown key', { 'X-API-Key': newSecret('qk') });
        await expectRefused('a key without its last character', { 'X-API-Key': apiKey.slice(0, -1) });
        await expectRefused('a key in another case', { 'X-API-Key': apiKey.toUpperCase() });
        await expectRefused('the key twice', { 'X-API-Key': [apiKey, apiKey] });
        await expectRefused('the key and another', { 'X-API-Key': [apiKey, newSecret('qk')] });
        await expectRefused('another and the key', { 'X-API-Key': [newSecret('qk'), apiKey] });
        await expectRefused('the key in a list', { 'X-API-Key': `${apiKey}, ${apiKey}` });
        await expectRefused('the key with a word', { 'X-API-Key': `${apiKey} x` });
        await expectRefused('an empty key and the key', { 'X-API-Key': ['', apiKey] });
        await expectRefused('the key and another, in two spellings', { 'X-API-Key': apiKey, 'x-api-key': 'other' });
        await expectRefused('an underlined name', { X_API_Key: apiKey });
        for (const more of [4_000, 6_000])
          await expectRefused('an oversized key', { 'X-API-Key': apiKey + 'a'.repeat(more) });
        await expectRefused('the rotation secret', { 'X-API-Key': merchant.rotationSecret });
      },
    );

    rule('auth.1', 'a bearer token, basic authentication or a cookie with the key is not accepted', async () => {
      const { apiKey } = merchant;
      await expectRefused('a bearer token', { Authorization: `Bearer ${apiKey}` });
      await expectRefused('basic', { Authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` });
      await expectRefused('proxy authentication', { 'Proxy-Authorization': apiKey });
      await expectRefused('a cookie', { Cookie: `X-API-Key=${apiKey}; api_key=${apiKey}` });
    });

    rule('auth.2', 'a key in the query or in the body is not accepted', async () => {
      const { apiKey, wallet } = merchant;
      await expectRefused(
        'a query',
        {},
        `?X-API-Key=${apiKey}&x-api-key=${apiKey}&api_key=${apiKey}&apikey=${apiKey}&key=${apiKey}`,
      );
      const body = { amount: '1', merchant_wallet: wallet, description: 'x', api_key: apiKey, 'X-API-Key': apiKey };
      const inBody = await anybody('POST', '/api/v1/payments', { headers: { 'Idempotency-Key': 'a' }, body });
      expect(inBody.status).toBe(401);
    });

    rule('auth.1', 'with the key each protected endpoint works, however the header name is spelt', async () => {
      const reader = await openMerchant(contract.stack);
      const names = ['X-API-Key', 'x-api-key', 'X-Api-Key'];
      const answers = await Promise.all(
        protectedEndpoints.map((endpoint, index) => sent(endpoint, { [names[index % 3]!]: reader.apiKey })),
      );
      const statuses = answers.map(({ status }, index) => `${name(index)}: ${status}`);
      const wanted = [201, 200, 200, 200, 200, 404, 409, 404, 404, 404, 200, 200, 200, 200, 200, 200, 404, 200, 404];
      expect(statuses).toEqual(wanted.map((status, index) => `${name(index)}: ${status}`));
    });

    rule('auth.1', 'a refused request is answered 401 before its body or fields are checked', async () => {
      const tooLarge = Buffer.alloc(65_537, 0x20);
      const answers = await Promise.all([
        anybody('POST', '/api/v1/payments', { body: { amount: 1 } }),
        anybody('POST', '/api/v1/payments', { body: tooLarge, headers: { 'Content-Type': 'application/json' } }),
        anybody('PUT', '/api/v1/merchant/webhook', { body: { url: 'http://127.0.0.1' } }),
        anybody('GET', '/api/v1/payments/page?limit=0'),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    });

    rule(
      ['auth.3', 'errors.401'],
      'the key of a blocked account is 401 at every replica at once, and works again after unblocking',
      async () => {
        const blocked = await openMerchant(contract.stack);
        const headers = { 'X-API-Key': blocked.apiKey };
        const everywhere = () =>
          Promise.all(
            [anybody, ...replicas()].map(async (api) => (await api('GET', '/api/v1/payments', { headers })).status),
          );
        const each = [anybody, ...replicas()];
        expect(await everywhere()).toEqual(each.map(() => 200));
        await asOperator(contract.stack, 'POST', `/merchants/${blocked.merchantId}/block`, {});
        expect(await everywhere()).toEqual(each.map(() => 401));
        expect(await blocked.create()).toMatchObject({ status: 401 });
        await asOperator(contract.stack, 'POST', `/merchants/${blocked.merchantId}/unblock`, {});
        expect(await everywhere()).toEqual(each.map(() => 200));
      },
    );

    rule(
      'auth.5',
      'the operator replaces both credentials: the old ones stop working, account, payments and webhook stay',
      async () => {
        const account = await openMerchant(contract.stack);
        const payment = await account.created({ amount: '3.25' });
        const webhook = await account.call('GET', '/api/v1/merchant/webhook');
        const replaced = await asOperator<{ merchant_id: string; api_key: string; rotation_secret: string }>(
          contract.stack,
          'POST',
          `/merchants/${account.merchantId}/replace-credentials`,
          {},
        );
        expect(replaced.merchant_id).toBe(account.merchantId);

        const keyed = (key: string) =>
          Promise.all(replicas().map((api) => api('GET', '/api/v1/payments', header(key))));
        for (const answer of await keyed(account.apiKey)) expect(answer.status).toBe(401);
        for (const answer of await keyed(replaced.api_key)) {
          expect(answer.json<{ payments: object[] }>().payments).toEqual([payment]);
        }
        const settings = await anybody('GET', '/api/v1/merchant/webhook', header(replaced.api_key));
        expect(settings.json()).toEqual(webhook.json());

        const rotate = (secret: string) =>
          anybody('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': secret } });
        expect((await rotate(account.rotationSecret)).status).toBe(401);
        expect((await rotate(replaced.rotation_secret)).status).toBe(200);
      },
    );

    rule(['auth.6', 'payment.link'], 'the public token reads its payment and nothing else', async () => {
      const payment = await merchant.created({ amount: '4.75' });
      const other = await merchant.created({ amount: '4.76' });
      const token = tokenOf(payment);
      const status = await anybody('GET', `/api/v1/payments/${token}`);
      expect(status).toMatchObject({ status: 200 });
      expect(status.json()).toMatchObject({ amount: '4.75', status: 'PENDING' });
      expect(status.text).not.toContain(payment.payment_id);
      expect(status.text).not.toContain(merchant.merchantId);

      await expectRefused('the public token', { 'X-API-Key': token });
      const asSecret = await anybody('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': token } });
      expect(asSecret.status).toBe(401);
      const changes = ['cancel', 'details', 'webhooks'].map((what) =>
        anybody(what === 'cancel' ? 'POST' : 'GET', `/api/v1/payments/${token}/${what}`),
      );
      expect((await Promise.all(changes)).map((answer) => answer.status)).toEqual([401, 401, 401]);
      const otherToken = tokenOf(other);
      expect((await anybody('GET', `/api/v1/payments/${otherToken}`)).json()).toMatchObject({ amount: '4.76' });
      expect((await anybody('GET', `/api/v1/payments/${payment.payment_id}`)).status).toBe(404);
    });

    rule(['auth.8', 'limits-record.no-credentials'], 'the limits call returns no credential', async () => {
      const answer = await merchant.call('GET', '/api/v1/merchant/limits');
      expect(answer.status).toBe(200);
      expect(answer.text).not.toMatch(/qk_|qr_|whsec_|whk_/);
      expect(Object.keys(answer.json<object>()).filter((field) => /key|secret|token|hash/.test(field))).toEqual([]);
    });
  });
}

const header = (key: string) => ({ headers: { 'X-API-Key': key } });
