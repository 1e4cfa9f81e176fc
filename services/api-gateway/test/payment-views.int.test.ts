import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newPublicToken } from '@quittance/contracts/ids.ts';
import type { BodyOf } from '@quittance/contracts/call.ts';
import type { ReadPublicPayments } from '@quittance/contracts/http/payments/payments.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import { createServiceClient, type ServiceClient } from '@quittance/http/client/client.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { createPaymentViews, type PaymentViews, publicTokenHash } from '../src/payments/views.ts';
import { checkoutOf } from '@quittance/testkit/sample-checkout.ts';
import { WALLET } from '@quittance/testkit/sample-networks.ts';
import { standIn, type StandIn } from './stand-in.ts';

let payments: StandIn;
let client: ServiceClient;
let views: PaymentViews;
beforeAll(async () => {
  payments = await standIn();
  const common = { showCaller: null, logger: testLogger, metrics: testMetrics };
  client = createServiceClient({ name: 'payments', baseUrl: payments.url, ...common });
  views = createPaymentViews(client);
});
beforeEach(() => {
  payments.received.length = 0;
});
afterAll(async () => {
  client.close();
  await payments.close();
});

const payment: PublicPayment = {
  status: 'CHECKING',
  amount: '10.50',
  currency: 'USDT',
  network: 'local',
  merchant_wallet: WALLET,
  description: 'Order 7',
  expires_at: '2026-01-31T09:00:00.000Z',
};
const checking = checkoutOf(payment, { confirmations: { seen: 3, required: 12 }, reference: '0123456J' });
/** Makes payments know only these tokens. */
const know = (...tokens: string[]) => {
  const found = tokens.map((token) => ({ token_sha256: publicTokenHash(token), ...checking }));
  payments.answers.set('POST /internal/v1/public-payments', { status: 200, body: { found } });
};
const asked = () =>
  payments.received.map(({ body }) => (JSON.parse(body) as BodyOf<typeof ReadPublicPayments>).tokens_sha256);

test('the status of a token and its checkout page share one call, and each gets its own fields', async () => {
  const [token, other] = [newPublicToken(), newPublicToken()];
  know(token, other);
  const answers = await Promise.all([
    views.publicPayment(token),
    views.checkoutPayment(token),
    views.checkoutPayment(other),
  ]);
  expect(answers).toEqual([checking.payment, checking, checking]);
  expect(asked()).toEqual([[token, other].map(publicTokenHash)]);
});

test('an unknown token has no status and no page, and a malformed token causes no call', async () => {
  know(newPublicToken());
  const unknown = newPublicToken();
  expect([await views.publicPayment(unknown), await views.checkoutPayment(unknown)]).toEqual([null, null]);
  payments.received.length = 0;
  for (const text of ['', 'x', `${unknown}A`, unknown.replace(/.$/, '.')]) {
    expect([await views.publicPayment(text), await views.checkoutPayment(text)]).toEqual([null, null]);
  }
  expect(payments.received).toEqual([]);
});
