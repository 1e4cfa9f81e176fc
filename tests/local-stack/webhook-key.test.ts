import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setWebhook } from '@quittance/local-stack/stack/demo-merchant.ts';

/** Stores a webhook and is late with the answer that has its key, once. */
const asked: string[] = [];
const api = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  const [status, body] =
    asked.length === 1
      ? [503, { code: 'unavailable' }]
      : request.method === 'PUT'
        ? [200, { url: 'https://shop.example', key_id: 'whk_1' }]
        : [200, { key_id: 'whk_2', signing_key: 'whsec_2' }];
  response.writeHead(status).end(JSON.stringify(body));
});
beforeAll(() => new Promise<void>((resolve) => void api.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => void api.close(resolve)));

test('a merchant whose first answer was lost with its signing key has another one by rotation', async () => {
  const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  expect(await setWebhook(url, { api_key: 'qk_1' }, 'https://shop.example')).toEqual({
    ...{ api_key: 'qk_1', webhook_url: 'https://shop.example' },
    ...{ key_id: 'whk_2', signing_key: 'whsec_2' },
  });
  expect(asked).toEqual([
    'PUT /api/v1/merchant/webhook',
    'PUT /api/v1/merchant/webhook',
    'POST /api/v1/merchant/webhook/rotate-key',
  ]);
});
