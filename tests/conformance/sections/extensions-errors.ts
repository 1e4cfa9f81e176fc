import { beforeAll, describe, expect } from '@jest/globals';
import { newId, newPublicToken, newSecret } from '@quittance/contracts/ids.ts';
import { fewAtATime, sourceAddress, type HttpAnswer } from '../../support/http.ts';
import type { Contract } from '../conformance.test.ts';
import { repeated } from '../support/counted.ts';
import { codeProblems } from '../../support/error-codes.ts';
import { openMerchant, type Merchant } from '../../support/merchant.ts';
import { createAndPay, untilRecord } from '../../support/paying.ts';
import { protectedEndpoints } from '../../support/protected-endpoints.ts';
import { RawConnection } from '../../support/raw.ts';
import { rule } from '../support/rule.ts';

/** The top-level code of an error. Every section checks that each answer's code belongs to its status. */
export function errorCodesSection(contract: Contract): void {
  describe('extensions: the code of an error', () => {
    let merchant: Merchant;
    beforeAll(async () => {
      merchant = await openMerchant(contract.stack);
    });
    const noKey = { headers: { 'X-API-Key': `qk_${'A'.repeat(43)}` } };
    const codesOf = (asked: (() => Promise<HttpAnswer>)[]) =>
      fewAtATime(asked.map((ask) => async () => said(await ask())));

    rule(
      'extensions.errors.code',
      '401 unauthorized at every protected endpoint and for a rotation secret',
      async () => {
        const asked = protectedEndpoints.map(
          ({ method, path, call }) =>
            () =>
              merchant.call(method, path, { ...call, headers: { ...call.headers, ...noKey.headers } }),
        );
        const rotate = () =>
          merchant.call('POST', '/api/v1/merchant/rotate-key', { headers: { 'secret-key': newSecret('qr') } });
        const codes = await codesOf([...asked, rotate]);
        expect(new Set(codes)).toEqual(new Set(['401 unauthorized']));
      },
    );

    rule('extensions.errors.code', '404, 405, 413 and 422 by status', async () => {
      const long = { body: 'x'.repeat(64 * 1024 + 1), headers: { 'Content-Type': 'application/json' } };
      const codes = await codesOf([
        () => merchant.call('GET', '/api/v1/nothing'),
        () => merchant.call('GET', `/api/v1/payments/${newPublicToken()}`),
        () => merchant.call('GET', `/api/v1/payments/${newId('pay')}/details`),
        () => merchant.call('GET', `/api/v1/payments/${newId('pay')}/webhooks`),
        () => merchant.call('POST', `/api/v1/merchant/webhook/events/${newId('evt')}/retry`),
        () => merchant.call('DELETE', '/api/v1/payments'),
        () => merchant.call('POST', '/api/v1/payments', long),
        () => merchant.call('PUT', '/api/v1/merchant/webhook', long),
        () => merchant.create({ amount: 10 }),
        () => merchant.call('PUT', '/api/v1/merchant/webhook', { body: { url: 'http://x.y/' } }),
        () => merchant.call('GET', '/api/v1/payments/page?limit=0'),
      ]);
      expect(codes).toEqual([
        ...Array<string>(5).fill('404 not_found'),
        '405 method_not_allowed',
        '413 body_too_large',
        '413 body_too_large',
        ...Array<string>(3).fill('422 invalid_request'),
      ]);
    });

    rule('extensions.errors.conflict', '409 says what a creation or a cancellation conflicts with', async () => {
      const [other, bare] = await Promise.all([
        openMerchant(contract.stack),
        openMerchant(contract.stack, { webhook: false }),
      ]);
      const { payment_id: id } = await merchant.created({ amount: '31' }, 'order-31');
      const codes = await codesOf([
        () => merchant.create({ amount: '31' }),
        () => other.create({ amount: '32', merchant_wallet: merchant.wallet }),
        () => bare.create(),
        () => bare.call('POST', '/api/v1/merchant/webhook/rotate-key'),
        () => merchant.create({ amount: '33' }, 'order-31'),
        () => other.call('POST', `/api/v1/payments/${id}/cancel`),
      ]);
      expect(codes).toEqual([
        '409 payment_unfinished',
        '409 wallet_of_another_merchant',
        '409 webhook_not_configured',
        '409 webhook_not_configured',
        '409 idempotency_conflict',
        '409 cancel_unavailable',
      ]);
    });

    rule('extensions.errors.conflict', '409 event_not_retryable for an event that is delivered', async () => {
      const payment = await createAndPay(contract.stack, merchant);
      const { event_id: id } = await untilRecord({ merchant, payment }, ({ status }) => status === 'delivered');
      const path = `/api/v1/merchant/webhook/events/${id}/retry`;
      expect(said(await merchant.call('POST', path))).toBe('409 event_not_retryable');
    });

    rule('extensions.errors.code', '429 rate_limited from the application', async () => {
      const counted = await openMerchant(contract.stack);
      const body = { url: 'https://never.example.com/hooks' };
      const answers = await repeated(11, () => counted.call('PUT', '/api/v1/merchant/webhook', { body }));
      const refused = answers.filter(({ status }) => status === 429);
      expect(new Set(refused.map(said))).toEqual(new Set(['429 rate_limited']));
    });

    rule('extensions.errors.edge', '400, 404, 405, 414, 429 and 431 of the edge, without the gateway', async () => {
      const rest = 'HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
      const path = '/api/v1/payments';
      const ask = async (bytes: string) =>
        said(await new RawConnection(contract.stack.edge_url).ask(bytes, bytes.slice(0, bytes.indexOf(' '))));
      const long = 'a'.repeat(9_000);
      expect({
        unreadable: await ask('hello\r\n\r\n'),
        lengths: await ask(`POST ${path} ${rest}Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}`),
        inside: await ask(`GET /internal/v1/merchants ${rest}\r\n`),
        trace: await ask(`TRACE ${path} ${rest}\r\n`),
        address: await ask(`GET /api/v1/${long} ${rest}\r\n`),
        header: await ask(`GET ${path} ${rest}X-A: ${long}\r\n\r\n`),
      }).toEqual({
        unreadable: '400 bad_request',
        lengths: '400 bad_request',
        inside: '404 not_found',
        trace: '405 method_not_allowed',
        address: '414 bad_request',
        header: '431 headers_too_large',
      });
      const from = sourceAddress();
      const answers = await repeated(60, () => merchant.call('GET', path, { ...noKey, from }));
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).not.toHaveLength(0);
      expect(new Set(refused.map(said))).toEqual(new Set(['429 rate_limited']));
    });

    rule('extensions.errors.code', '400, 405 and 431 of a replica behind the edge', async () => {
      const { url } = contract.stack.services['api-gateway'].replicas[0]!;
      const ask = async (bytes: string) => said(await new RawConnection(url).ask(bytes, 'GET'));
      expect([
        await ask('hello\r\n\r\n'),
        await ask('GET /api/v1/payments HTTP/1.1\r\nConnection: close\r\n\r\n'),
        await ask('CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n'),
        await ask(`GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`),
      ]).toEqual(['400 bad_request', '400 bad_request', '405 method_not_allowed', '431 headers_too_large']);
    });
  });
}

/** Status and code, or the problem if the code does not belong to the status. */
function said(answer: HttpAnswer): string {
  const [problem] = codeProblems(answer);
  return `${answer.status} ${problem ?? answer.json<{ code?: string }>().code}`;
}
