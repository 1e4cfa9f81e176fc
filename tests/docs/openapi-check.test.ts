import { describe, expect, test } from '@jest/globals';
import { undocumented } from '../support/openapi/undocumented.ts';
import { below, members, operations, type Media, type Response } from '../support/openapi/document.ts';
import type { HttpAnswer } from '../support/http.ts';

const usual: [string, string][] = [
  ['X-Request-ID', 'order-1007'],
  ['Cache-Control', 'no-store'],
  ['Content-Type', 'application/json; charset=utf-8'],
];

const paymentsPath = '/api/v1/payments';
const payment = exampleOf('/components/examples/PendingPayment');
const details = exampleOf(
  '/paths/~1api~1v1~1payments~1{payment_id}~1details/get/responses/200/content/application~1json/examples/paid',
);
const unauthorized = { detail: 'Missing or invalid API key', code: 'unauthorized' };
const exceeded = { detail: 'Rate limit exceeded', code: 'rate_limited' };

describe('checking an answer against the OpenAPI document', () => {
  test('accepts every example of the document as an answer', () => {
    let answers = 0;
    for (const { method, path, at: operation } of operations('paths')) {
      for (const [status, response] of members<Response>(operation, 'responses')) {
        const media = members<Media>(response, 'content').find(([type]) => type === 'application/json')?.[1];
        // An export is text.
        if (media === undefined) continue;
        for (const [name, { node }] of members<{ value: object }>(media, 'examples')) {
          const retryAfter: [string, string][] = name === 'application' ? [['Retry-After', '60']] : [];
          const answer = answerOf(Number(status), node.value, [...usual, ...retryAfter]);
          expect([method, path, name, ...undocumented(method, path, answer)]).toEqual([method, path, name]);
          answers += 1;
        }
      }
    }
    expect(answers).toBeGreaterThan(100);
  });

  test('reports a status that the operation does not have', () => {
    expect(
      undocumented('GET', paymentsPath, answerOf(500, { detail: 'Internal error', code: 'internal_error' })),
    ).toEqual(['the status 500 is not documented here']);
    expect(
      undocumented('GET', paymentsPath, answerOf(404, { detail: 'Payment not found', code: 'not_found' })),
    ).not.toEqual([]);
    expect(
      undocumented('GET', `${paymentsPath}/page`, answerOf(404, { detail: 'Payment not found', code: 'not_found' })),
    ).not.toEqual([]);
    expect(
      undocumented(
        'GET',
        `${paymentsPath}/x/details`,
        answerOf(404, { detail: 'Payment not found', code: 'not_found' }),
      ),
    ).toEqual([]);
  });

  test('prefers an operation whose path is literal over one with a parameter', () => {
    const page = answerOf(200, { payments: [payment], next_cursor: null });
    expect(undocumented('GET', `${paymentsPath}/page?limit=1`, page)).toEqual([]);
    expect(undocumented('GET', `${paymentsPath}/${'t'.repeat(43)}`, page)).not.toEqual([]);
  });

  test.each([
    ['an additional field', { ...payment, merchant_id: 'mer_1' }, 'additional'],
    ['a missing field', { ...payment, paid_at: undefined }, "'paid_at'"],
    ['a number for an amount', { ...payment, amount: 10.5 }, '/amount'],
    ['an id of another format', { ...payment, payment_id: 'pay_1' }, '/payment_id'],
    ['a time without milliseconds', { ...payment, created_at: '2026-03-14T09:26:53Z' }, '/created_at'],
    ['an invalid time', { ...payment, created_at: '2026-13-14T09:26:53.589Z' }, '/created_at'],
    ['a status that does not exist', { ...payment, status: 'SETTLED' }, '/status'],
    ['a paid payment without its time', { ...payment, status: 'PAID' }, '/paid_at'],
    ['a waiting payment with a transaction', { ...payment, transaction: details['transaction'] }, '/transaction'],
    ['another kind of body', [payment], 'object'],
  ])('notices %s', (_, body, hint) => {
    const problems = undocumented('POST', paymentsPath, answerOf(201, body));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(hint);
  });

  test('reports a public status that says more than it may', () => {
    const { status, amount, currency, network, merchant_wallet, description, expires_at } = payment;
    const shown = { status, amount, currency, network, merchant_wallet, description, expires_at };
    const path = `${paymentsPath}/${'t'.repeat(43)}`;
    const transactionId = 'ab'.repeat(32);
    expect(undocumented('GET', path, answerOf(200, shown))).toEqual([]);
    expect(undocumented('GET', path, answerOf(200, { ...shown, transaction_id: transactionId }))).not.toEqual([]);
    expect(undocumented('GET', path, answerOf(200, { ...shown, status: 'PAID' }))).toEqual([]);
    expect(undocumented('GET', path, answerOf(200, { ...shown, payment_id: payment['payment_id'] }))).not.toEqual([]);
  });

  test('reports a field that occurs twice, at any depth', () => {
    expect(
      undocumented('GET', paymentsPath, answerOf(401, '{"detail":"a","detail":"b","code":"unauthorized"}')),
    ).toEqual(['the body has the field "detail" more than once']);
    const deep = JSON.stringify({ payments: [payment] }).replace('"status":', '"status":"PENDING","st\\u0061tus":');
    expect(undocumented('GET', paymentsPath, answerOf(200, deep))).toEqual([
      'the body has the field "status" more than once',
    ]);
  });

  test('reads texts that look like JSON as texts', () => {
    const described = { ...payment, description: '"status": {"a":1,"a":2} \\" [' };
    expect(undocumented('POST', paymentsPath, answerOf(201, described))).toEqual([]);
  });

  test('reports a body that is not JSON, or has another content type', () => {
    expect(undocumented('GET', paymentsPath, answerOf(401, '{"detail":'))).toEqual(['the body is not JSON']);
    const html = answerOf(401, '<p>no</p>', [...usual.slice(0, 2), ['Content-Type', 'text/html']]);
    expect(undocumented('GET', paymentsPath, html)).toEqual(['the content type "text/html" is not documented here']);
  });

  test.each([
    ['no request id', usual.slice(1), 'the header X-Request-ID is missing'],
    ['two request ids', [...usual, ['x-request-id', 'b']], 'the header X-Request-ID occurs 2 times'],
    ['a request id with a space', [['X-Request-ID', 'a b'], ...usual.slice(1)], 'the header X-Request-ID "a b"'],
    ['no Cache-Control', [usual[0]!, usual[2]!], 'the header Cache-Control is missing'],
    ['permission to cache', [usual[0]!, usual[2]!, ['Cache-Control', 'public']], 'the header Cache-Control "public"'],
    ['a cookie', [...usual, ['Set-Cookie', 'a=b']], 'the API sets a cookie'],
    ['a CORS header', [...usual, ['Access-Control-Allow-Origin', '*']], 'the API has the CORS header'],
    [
      'an undocumented header',
      [...usual, ['X-Powered-By', 'Express']],
      'the header x-powered-by is not documented here',
    ],
    [
      'a Retry-After that belongs elsewhere',
      [...usual, ['Retry-After', '5']],
      'the header retry-after is not documented here',
    ],
  ] as [string, [string, string][], string][])('notices %s', (_, headers, problem) => {
    const problems = undocumented('GET', paymentsPath, answerOf(401, unauthorized, headers));
    expect(problems).toContainEqual(expect.stringContaining(problem));
  });

  test('requires Retry-After from the application, in whole seconds, and never from the edge', () => {
    const with429 = (body: object, ...retryAfter: string[]) =>
      undocumented(
        'GET',
        paymentsPath,
        answerOf(429, body, [...usual, ...retryAfter.map((value): [string, string] => ['Retry-After', value])]),
      );
    expect(with429(exceeded, '60')).toEqual([]);
    expect(with429(exceeded)).not.toEqual([]);
    expect(with429(exceeded, '0')).not.toEqual([]);
    expect(with429(exceeded, '1.5')).not.toEqual([]);
    expect(with429({ detail: 'Too many requests', code: 'rate_limited' })).toEqual([]);
    expect(with429({ detail: 'Too many requests', code: 'rate_limited' }, '60')).not.toEqual([]);
    expect(with429({ detail: 'Slow down', code: 'rate_limited' })).not.toEqual([]);
  });

  test('accepts HEAD like GET without a body', () => {
    const list = { payments: [] };
    expect(undocumented('HEAD', paymentsPath, answerOf(200, ''))).toEqual([]);
    expect(undocumented('HEAD', paymentsPath, answerOf(200, list))).toEqual(['the answer to a HEAD has a body']);
    expect(undocumented('HEAD', paymentsPath, answerOf(201, ''))).not.toEqual([]);
  });

  test('requires 405 with the methods of the path, and only if the path accepts others', () => {
    const refused = (allow: string) =>
      answerOf(405, { detail: 'Method not allowed', code: 'method_not_allowed' }, [...usual, ['Allow', allow]]);
    expect(undocumented('DELETE', paymentsPath, refused('POST, GET, HEAD'))).toEqual([]);
    expect(undocumented('DELETE', paymentsPath, refused('GET, HEAD'))).not.toEqual([]);
    expect(undocumented('GET', paymentsPath, refused('POST, GET, HEAD'))).not.toEqual([]);
    expect(undocumented('DELETE', '/api/v1/nothing', refused('GET, HEAD'))).not.toEqual([]);
    expect(undocumented('TRACE', paymentsPath, refused('GET, HEAD, POST, PUT, DELETE'))).toEqual([]);
  });

  test('knows the answers that any request can get, and those of an unknown path', () => {
    const bad = answerOf(400, { detail: 'Bad request', code: 'bad_request' }, usual);
    expect(undocumented('GET', paymentsPath, bad)).toEqual([]);
    expect(undocumented('GET', '/nowhere', bad)).toEqual([]);
    expect(undocumented('GET', '/api/v1/nowhere', answerOf(404, { detail: 'Not found', code: 'not_found' }))).toEqual(
      [],
    );
    expect(undocumented('GET', '/api/v1/nowhere', answerOf(401, unauthorized))).not.toEqual([]);
    expect(undocumented('GET', '/api/v1/nowhere', answerOf(429, exceeded))).not.toEqual([]);
    expect(undocumented('GET', '/api/v1', answerOf(301, ''))).not.toEqual([]);
  });
});

function exampleOf(pointer: string): Record<string, unknown> {
  return below<{ value: Record<string, unknown> }>(pointer).node.value;
}

/** @param body an object is sent as JSON. */
function answerOf(status: number, body: object | string, headers: readonly [string, string][] = usual): HttpAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const parsed = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const json = (): never => {
    throw new Error('the check reads the text');
  };
  return { status, headers: parsed, rawHeaders: headers.flat(), text, json };
}
