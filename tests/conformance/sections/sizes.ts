import { beforeAll, describe, expect } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { HttpCall } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { apiAt, openMerchant, type Api, type Merchant } from '../../support/merchant.ts';
import { protectedEndpoints } from '../../support/protected-endpoints.ts';
import { rule } from '../support/rule.ts';

const KIB_64 = 64 * 1024;
const chunked = { 'Transfer-Encoding': 'chunked' };

/** Bodies around 64 KiB, with their length declared and without, at the edge and at a replica behind it. */
export function sizesSection(contract: Contract): void {
  describe('a body', () => {
    let merchant: Merchant;
    let doors: Api[];
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
      const replica = contract.stack.services['api-gateway'].replicas[0]!;
      doors = [apiAt(contract.stack.edge_url), apiAt(replica.url)];
    });
    const creation = (amount: string, bytes: number): string =>
      JSON.stringify({ amount, merchant_wallet: merchant.wallet, description: 'A long body' }).padEnd(bytes, ' ');
    const post = (door: Api, body: string, headers: Record<string, string> = {}): ReturnType<Api> =>
      door('POST', '/api/v1/payments', { headers: { ...creationHeaders(merchant.apiKey), ...headers }, body });
    const statuses = async (asked: ReturnType<Api>[]) => (await Promise.all(asked)).map(({ status }) => status);

    rule(['limits.size.body', 'errors.201'], 'of exactly 64 KiB is read, declared or chunked', async () => {
      const asked = doors.flatMap((door, index) => [
        post(door, creation(`1.${index + 1}`, KIB_64), { 'Idempotency-Key': `declared-${index}` }),
        post(door, creation(`2.${index + 1}`, KIB_64), { 'Idempotency-Key': `chunked-${index}`, ...chunked }),
      ]);
      expect(await statuses(asked)).toEqual([201, 201, 201, 201]);
    });

    rule(
      ['limits.size.body', 'errors.413', 'errors.body.1'],
      'of one byte more is 413, declared or chunked',
      async () => {
        const bodies = [creation('3', KIB_64 + 1), creation('3', 69_000), creation('3', 1024 * 1024)];
        const asked = doors.flatMap((door) => bodies.flatMap((body) => [post(door, body), post(door, body, chunked)]));
        for (const answer of await Promise.all(asked)) {
          expect(answer.status).toBe(413);
          expect(answer.json()).toEqual({ detail: expect.any(String), code: 'body_too_large' });
        }
        expect(await statuses([post(doors[0]!, creation('3', 0))])).toEqual([201]);
      },
    );

    rule(['errors.401', 'errors.413'], 'that is too long is 401 first without a valid key', async () => {
      const bodies = [creation('4', KIB_64 + 1), creation('4', 69_000), creation('4', 1024 * 1024)];
      const keys = [`qk_${'A'.repeat(43)}`, '', 'x'.repeat(300), merchant.rotationSecret];
      const asked = doors.flatMap((door) =>
        bodies.flatMap((body, index) => [
          post(door, body, { 'X-API-Key': keys[index]! }),
          post(door, body, { 'X-API-Key': keys[index + 1]!, ...chunked }),
        ]),
      );
      expect(await statuses(asked)).toEqual(asked.map(() => 401));
    });

    rule(['errors.413', 'errors.422'], 'that is too long is 413 before any other problem of the request', async () => {
      const broken = 'x'.repeat(KIB_64 + 1);
      const headers = { 'X-API-Key': merchant.apiKey, 'Content-Type': 'text/plain', 'Idempotency-Key': 'two words' };
      const asked = doors.flatMap((door) =>
        [headers, { ...headers, ...chunked }].map((sent) =>
          door('POST', '/api/v1/payments', { headers: sent, body: broken }),
        ),
      );
      expect(await statuses(asked)).toEqual([413, 413, 413, 413]);
    });

    rule(
      'limits.size.body',
      'that is too long is 413 at every endpoint, including those that need no body',
      async () => {
        const endpoints = [
          ...protectedEndpoints,
          { method: 'POST', path: '/api/v1/merchant/rotate-key' },
          { method: 'GET', path: `/api/v1/payments/${newPublicToken()}` },
        ];
        const headers = { 'X-API-Key': merchant.apiKey, 'secret-key': merchant.rotationSecret };
        const long: HttpCall = {
          headers: { ...headers, 'Content-Type': 'application/json' },
          body: ' '.repeat(KIB_64 + 1),
        };
        const asked = endpoints.flatMap(({ method, path }) => [
          doors[0]!(method, path, long),
          doors[0]!(method, path, { ...long, headers: { ...long.headers, ...chunked } }),
        ]);
        expect(await statuses(asked)).toEqual(asked.map(() => 413));
        // Nothing was done: the key that a rotation would have replaced still works.
        expect(await merchant.call('GET', '/api/v1/merchant/limits')).toMatchObject({ status: 200 });
      },
    );
  });
}

const creationHeaders = (apiKey: string) => ({
  'X-API-Key': apiKey,
  'Idempotency-Key': 'a-long-body',
  'Content-Type': 'application/json',
});
