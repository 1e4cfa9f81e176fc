import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect } from '@jest/globals';
import { newId, newSecret } from '@quittance/contracts/ids.ts';
import { fewAtATime, type HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { asOperator } from '../../support/operator.ts';
import { expectAdmitted } from '../support/counted.ts';
import { apiAt, openMerchant, type Api } from '../../support/merchant.ts';
import { RawConnection } from '../../support/raw.ts';
import { rule } from '../support/rule.ts';

const PATH = '/api/v1/merchant/rotate-key';
const LIMIT = 5;

/** POST /api/v1/merchant/rotate-key: a new API key for the rotation secret, at the edge and at every replica. */
export function keyRotationSection(contract: Contract): void {
  describe('rotating the API key', () => {
    let edge: Api;
    let replicas: Api[];

    beforeAll(() => {
      edge = apiAt(contract.stack.edge_url);
      replicas = contract.stack.services['api-gateway'].replicas.map(({ url }) => apiAt(url));
    });

    const rotate = (secret: string | string[], api: Api = edge) =>
      api('POST', PATH, { headers: { 'secret-key': secret } });
    const keyOf = (answer: HttpAnswer) => answer.json<{ new_api_key: string }>().new_api_key;
    /** The answers to a read with this key, at the edge and at every replica at the same time. */
    const everywhere = (key: string) =>
      Promise.all(
        [edge, ...replicas].map(
          async (api) => (await api('GET', '/api/v1/payments', { headers: { 'X-API-Key': key } })).status,
        ),
      );
    const allOf = (status: number) => [edge, ...replicas].map(() => status);

    rule(
      ['auth.4', 'endpoint.rotate-key', 'endpoint.rule8.rotation'],
      'from the answer on, the old key is refused and the new one accepted, at the edge and at every replica',
      async () => {
        const merchant = await openMerchant(contract.stack);
        let key = merchant.apiKey;
        for (const api of [edge, ...replicas]) {
          // Every process that caches keys has cached the old one now.
          expect(await everywhere(key)).toEqual(allOf(200));
          const answer = await rotate(merchant.rotationSecret, api);
          expect(answer).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } });
          expect(answer.json()).toEqual({ new_api_key: expect.stringMatching(/^qk_[A-Za-z0-9_-]{43}$/) });
          expect(await everywhere(key)).toEqual(allOf(401));
          key = keyOf(answer);
          expect(await everywhere(key)).toEqual(allOf(200));
        }
      },
    );

    rule(
      ['endpoint.rotate-key', 'limits.app.rotate-key'],
      'of 20 simultaneous rotations over all replicas five are admitted, and one of the five keys works',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, index) => rotate(merchant.rotationSecret, replicas[index % replicas.length])),
        );
        expectAdmitted(answers, 200, LIMIT);
        const admitted = answers.filter(({ status }) => status === 200);
        const tried = await Promise.all(admitted.map(async (answer) => (await everywhere(keyOf(answer))).join(' ')));
        expect(tried.filter((statuses) => statuses === allOf(200).join(' '))).toHaveLength(1);
        expect(tried.filter((statuses) => statuses === allOf(401).join(' '))).toHaveLength(admitted.length - 1);
        expect(await everywhere(merchant.apiKey)).toEqual(allOf(401));
      },
    );

    rule(
      ['auth.4', 'errors.401'],
      'a missing, empty, doubled or unknown secret is the same 401, and the first two never count',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const secret = merchant.rotationSecret;
        const uncounted = Array.from({ length: LIMIT + 1 }, () => [
          () => edge('POST', PATH),
          () => rotate(''),
          () => rotate([newSecret('qr'), secret]),
          () => edge('POST', PATH, { headers: { secret_key: secret } }),
          () => edge('POST', PATH, { headers: { 'X-API-Key': merchant.apiKey } }),
          () => edge('POST', PATH, { headers: { Authorization: `Bearer ${secret}` } }),
          () => edge('POST', `${PATH}?secret-key=${secret}`),
          () => edge('POST', PATH, { body: { 'secret-key': secret, secret_key: secret } }),
        ]).flat();
        const unknown = [newSecret('qr'), 'x', merchant.apiKey, 'a'.repeat(4_000), `${secret} x`, [secret, secret]].map(
          (text) => () => rotate(text),
        );
        for (const { status, text } of await fewAtATime([...uncounted, ...unknown])) {
          expect(`${status} ${text}`).toBe('401 {"detail":"Missing or invalid rotation secret","code":"unauthorized"}');
        }
        expect(await everywhere(merchant.apiKey)).toEqual(allOf(200));
        expect((await rotate(secret)).status).toBe(200);
      },
    );

    rule('auth.4', 'the path of the rotation has one spelling', async () => {
      const merchant = await openMerchant(contract.stack);
      const spellings = ['rotate%2Dkey', 'rotate-key/', 'Rotate-Key', 'rotate-key;x', 'rotate-key%20', '%72otate-key'];
      for (const spelling of [...spellings, './rotate-key', '../merchant/rotate-key']) {
        const connection = new RawConnection(contract.stack.edge_url);
        // Byte by byte, because a client would normalize the path.
        const headers = `Host: x\r\nsecret-key: ${merchant.rotationSecret}\r\nContent-Length: 0\r\n`;
        const answer = await connection.ask(`POST /api/v1/merchant/${spelling} HTTP/1.1\r\n${headers}\r\n`, 'POST');
        expect([spelling, answer.status]).toEqual([spelling, 404]);
        connection.close();
      }
      expect(await everywhere(merchant.apiKey)).toEqual(allOf(200));
    });

    rule(
      ['auth.4', 'limits.app.rotate-key', 'errors.429', 'errors.body.4'],
      'attempts count by secret, known, doubled or not: five each, then 429 with Retry-After, for all clients at all replicas',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const guesses = [newSecret('qr'), `guess ${randomBytes(8).toString('hex')}`];
        for (const [secret, admitted] of [
          [guesses[0]!, 401],
          [guesses[1]!, 401],
          [[merchant.rotationSecret, merchant.rotationSecret], 401],
          [merchant.rotationSecret, 200],
        ] as [string | string[], number][]) {
          const answers = [];
          for (let attempt = 0; attempt <= LIMIT; attempt += 1) {
            answers.push(await rotate(secret, [edge, ...replicas][attempt % (replicas.length + 1)]));
          }
          expect(answers.map(({ status }) => status)).toEqual([...Array<number>(LIMIT).fill(admitted), 429]);
          const refusal = answers.at(-1)!;
          expect(refusal.text).toBe('{"detail":"Rate limit exceeded","code":"rate_limited"}');
          expect(refusal.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/);
          // An attempt over the limit changes nothing: the last admitted key still works.
          if (admitted === 200) expect(await everywhere(keyOf(answers.at(-2)!))).toEqual(allOf(200));
        }
      },
    );

    rule(
      ['limits.app.rule4', 'limits.app.window', 'limits.app.retry'],
      'a rotation resets no counter of the merchant: what the old key used also counts for the new one',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const retry = (key: string) =>
          edge('POST', `/api/v1/merchant/webhook/events/${newId('evt')}/retry`, { headers: { 'X-API-Key': key } });
        const before = await Promise.all(Array.from({ length: LIMIT - 1 }, () => retry(merchant.apiKey)));
        expect(before.map(({ status }) => status)).toEqual(before.map(() => 404));
        const newKey = keyOf(await rotate(merchant.rotationSecret));
        expect((await retry(newKey)).status).toBe(404);
        const refused = await retry(newKey);
        expect(refused).toMatchObject({ status: 429, text: '{"detail":"Rate limit exceeded","code":"rate_limited"}' });
        expect((await retry(keyOf(await rotate(merchant.rotationSecret)))).status).toBe(429);
      },
    );

    rule(
      ['auth.3', 'auth.4', 'endpoint.rotate-key'],
      'a blocked account cannot rotate, its key stays 401, and both work again after unblocking',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const operate = (what: string) =>
          asOperator(contract.stack, 'POST', `/merchants/${merchant.merchantId}/${what}`, {});
        await operate('block');
        const refused = await Promise.all(replicas.map((api) => rotate(merchant.rotationSecret, api)));
        expect(refused.map(({ status }) => status)).toEqual(replicas.map(() => 401));
        expect(await everywhere(merchant.apiKey)).toEqual(allOf(401));
        await operate('unblock');
        expect(await everywhere(merchant.apiKey)).toEqual(allOf(200));
        const rotated = await rotate(merchant.rotationSecret);
        expect(rotated.status).toBe(200);
        expect(await everywhere(keyOf(rotated))).toEqual(allOf(200));
      },
    );

    rule(
      'endpoint.rule8.rotation',
      'the three credentials are independent: rotating one does not change the others',
      async () => {
        const merchant = await openMerchant(contract.stack);
        const keyId = async (key: string) =>
          (await edge('GET', '/api/v1/merchant/webhook', { headers: { 'X-API-Key': key } })).json<{ key_id: string }>()
            .key_id;
        const before = await keyId(merchant.apiKey);
        const signing = await merchant.call('POST', '/api/v1/merchant/webhook/rotate-key');
        const { key_id: signingKeyId } = signing.json<{ key_id: string }>();
        expect(signingKeyId).not.toBe(before);
        expect(await everywhere(merchant.apiKey)).toEqual(allOf(200));

        const newKey = keyOf(await rotate(merchant.rotationSecret));
        expect(await keyId(newKey)).toBe(signingKeyId);
        // The same secret still works: a rotation does not use it up.
        expect((await rotate(merchant.rotationSecret)).status).toBe(200);
      },
    );
  });
}
