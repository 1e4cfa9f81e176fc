import { insist } from '@quittance/testkit/insist.ts';
import { inDatabase } from '../../support/database.ts';
import { openMerchant } from '../../support/merchant.ts';
import { NoAnswer, RawConnection } from '../../support/raw.ts';
import { problemsOf } from '../../support/shapes/judge.ts';
import { isEdgeInput, requestBytes, type EdgeInput } from '../edge-input.ts';
import { startSystem, unready } from '../system.ts';
import type { Json, Running, Target } from '../target.ts';

const json: [string, string] = ['Content-Type', 'application/json'];
const key: [string, string] = ['X-API-Key', '{{key}}'];
const creation = { amount: '10.50', merchant_wallet: '{{wallet}}', description: 'One cup of coffee' };
const options = {
  order_id: 'order 17',
  metadata: { basket: 'a-1' },
  return_url: 'https://shop.example.com/orders/17',
  expires_in: 1800,
  unique_amount: true,
};

const starts: EdgeInput[] = [
  { method: 'POST', path: '/api/v1/payments', headers: [key, json, ['Idempotency-Key', 'a']], body: creation },
  {
    method: 'POST',
    path: '/api/v1/payments',
    headers: [key, json, ['Idempotency-Key', 'b']],
    body: { ...creation, ...options },
  },
  { method: 'GET', path: '/api/v1/payments/page?status=PENDING&limit=10', headers: [key], body: null },
  { method: 'GET', path: '/api/v1/payments?order_id=order%2017&limit=2', headers: [key], body: null },
  { method: 'GET', path: '/api/v1/payments/{{payment}}/details', headers: [key], body: null },
  { method: 'GET', path: '/api/v1/payments/{{payment}}/webhooks', headers: [key], body: null },
  { method: 'POST', path: '/api/v1/payments/{{payment}}/cancel', headers: [key], body: null },
  { method: 'GET', path: '/api/v1/payments/{{token}}', headers: [], body: null },
  { method: 'GET', path: '/pay/{{token}}', headers: [['Accept-Language', 'de']], body: null },
  { method: 'GET', path: '/api/v1/merchant/limits', headers: [key], body: null },
  {
    method: 'PUT',
    path: '/api/v1/merchant/webhook',
    headers: [key, json],
    body: { url: 'https://shop.example.com/hooks', events: ['PAID', 'EXPIRED'] },
  },
  { method: 'POST', path: '/api/v1/merchant/rotate-key', headers: [['Secret-Key', '{{secret}}']], body: null },
  {
    method: 'POST',
    path: `/api/v1/merchant/webhook/events/evt_${'0'.repeat(32)}/retry`,
    headers: [key],
    body: null,
  },
];

const methods = ['GET', 'HEAD', 'POST', 'PUT'];

/** How many may be sent before the counters of the merchant would refuse the rest. */
const WINDOW = 20;

export const target: Target = {
  name: 'edge',
  isWhole: true,
  about: 'requests through nginx, which may be anything that is HTTP; no 5xx, nothing outside the OpenAPI document',
  starts,
  accepts: isEdgeInput,
  start,
};

async function start(environment: Record<string, string>): Promise<Running> {
  const system = await startSystem(environment);
  const stack = system.file;
  const merchant = await openMerchant(stack);
  // Its rotations end no key that is needed.
  const rotating = await openMerchant(stack, { webhook: false });
  const paid = await insist(() => merchant.create());
  const payment = paid.json<{ payment_id: string; payment_url: string }>();
  const filled = {
    key: merchant.apiKey,
    secret: rotating.rotationSecret,
    wallet: merchant.wallet,
    payment: payment.payment_id,
    token: payment.payment_url.split('/').at(-1) ?? '',
  };
  let sent = 0;
  return {
    async put(input: Json) {
      if (!isEdgeInput(input)) return { problems: [], outcome: 'no request' };
      if (sent++ % WINDOW === 0) await inDatabase(stack, 'delete from gateway.rate_limit_window');
      const { bytes, method, path } = requestBytes(input, filled);
      const connection = new RawConnection(stack.edge_url);
      try {
        const answer = await connection.ask(bytes, method);
        const problems = problemsOf(method, path, answer, [merchant.apiKey, rotating.rotationSecret]);
        const said =
          problems.length === 0 ? [] : [`${problems.join('; ')}: ${answer.status} ${answer.text.slice(0, 200)}`];
        return { problems: said, outcome: `${methods.includes(method) ? method : 'another method'} ${answer.status}` };
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        return { problems: [error.message], outcome: 'connection ended' };
      } finally {
        connection.close();
      }
    },
    async check() {
      const witness = await insist(() => merchant.create({ amount: '77' }));
      return [
        ...(witness.status === 201 ? [] : [`a creation is answered ${witness.status}`]),
        ...(await unready(system)),
      ];
    },
    close: () => system.close(),
  };
}
