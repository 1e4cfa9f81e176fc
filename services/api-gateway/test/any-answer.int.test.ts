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
