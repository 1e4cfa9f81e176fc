import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
afterAll(() => gateway.close());

test.each([
  ['GET', '/api/v1/nothing', 404, 'not_found'],
  ['GET', '/api/v1/payments', 401, 'unauthorized'],
  ['DELETE', '/api/v1/payments', 405, 'method_not_allowed'],
  ['POST', '/api/v1/payments/page', 405, 'method_not_allowed'],
  ['GET', '/internal/v1/merchants', 401, 'unauthorized'],
])('%s %s is %i with a string detail, a code, a request id and no-store', async (method, path, status, code) => {
  const answer = await gateway.call(method, path);
  expect(answer.status).toBe(status);
  expect(answer.json()).toEqual({ detail: expect.any(String), code });
  expect(answer.headers['cache-control']).toBe('no-store');
  expect(answer.headers['x-request-id']).toMatch(/^[\w.-]{1,64}$/);
  if (status === 405) expect(answer.headers.allow).toMatch(/[A-Z]/);
});

test('no merchant can change its total limit or the end of its beta: that is 405 or 404, and no service is called', async () => {
  const { merchant_id: id, api_key: key } = await gateway.merchant();
  gateway.payments.received.length = 0;
  const ask = async (method: string, path: string) => {
    const body = { total_limit: 1_000_000, daily_limit: null, days: 365, actor: 'merchant', reason: 'more' };
    return (await gateway.call(method, path, { headers: { 'X-API-Key': key }, body })).status;
  };
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect([method, await ask(method, '/api/v1/merchant/limits')]).toEqual([method, 405]);
  for (const action of ['set-limits', 'extend', 'activate', 'move-to-beta', 'resume', 'limits/total', 'policy'])
    for (const path of [`/api/v1/merchant/${action}`, `/api/v1/merchants/${id}/${action}`])
      expect([path, await ask('POST', path)]).toEqual([path, 404]);
  expect(gateway.payments.received).toEqual([]);
});
