import { afterEach, expect, test } from '@jest/globals';
import { CreatePayment, CreatePayments } from '@quittance/contracts/http/payments/payments.ts';
import { createServiceClient } from '@quittance/http/client/client.ts';
import { createCaller, withCaller } from '@quittance/runtime/concurrency/caller.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type FaultProxy, faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { newKey, newMerchant, newWallet } from './fixtures.ts';
import { INTERNAL_TOKEN, network, type PaymentsUnderTest, startPayments } from './service.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

/** As long as the gateway waits for the services. */
const WAIT_MS = 4_500;

let payments: PaymentsUnderTest;
let proxy: FaultProxy;
afterEach(async () => {
  payments.resume();
  await Promise.all([payments.close(), proxy.close()]);
});

const order = () => ({
  ...{ idempotency_key: newKey(), amount: '10.50', merchant_wallet: newWallet() },
  ...{ network, description: 'Two tickets' },
});

const stored = async (merchantId: string): Promise<number> =>
  (await payments.db.query('select from payment where merchant_id = $1', [merchantId])).rowCount!;

/** A client like the gateway, with a slow service that freezes right after its commit. */
async function frozenAfterCommit() {
  payments = await startPayments({ settings: { FAULT_POINT: 'freeze:request-committed' } });
  proxy = await faultProxy({ target: payments.url });
  proxy.delay(50);
  return createServiceClient({
    ...{
      name: 'payments',
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      showCaller: createCallerHeaders('api-gateway', sharedTrust(INTERNAL_TOKEN)),
      timeoutMs: WAIT_MS,
    },
    ...{ logger: testLogger, metrics: testMetrics },
  });
}

/** Resumes the service when the gateway would long have answered 503. */
async function resumeLate(merchantId: string, startedAt: number): Promise<void> {
  await eventually(async () => expect(await stored(merchantId)).toBe(1));
  await eventually(() => expect(performance.now() - startedAt).toBeGreaterThan(WAIT_MS + 1_000));
  payments.resume();
}

test('a committed creation is answered 201, however late the answer comes', async () => {
  const client = await frozenAfterCommit();
  const merchantId = await newMerchant(payments);
  const caller = createCaller(5_400, new AbortController().signal);
  const startedAt = performance.now();
  const answer = withCaller(caller, () =>
    client.send(CreatePayment, { params: { merchant_id: merchantId }, body: order() }),
  );
  await Promise.all([resumeLate(merchantId, startedAt), answer]);
  expect((await answer).status).toBe(201);
  client.close();
});

test('so are those of a group', async () => {
  const client = await frozenAfterCommit();
  const merchantId = await newMerchant(payments);
  const startedAt = performance.now();
  const creations = [{ ...order(), merchant_id: merchantId, request_id: 'r-1' }];
  const answer = client.call(CreatePayments, { body: { creations } });
  await Promise.all([resumeLate(merchantId, startedAt), answer]);
  expect((await answer).created.map(({ replayed }) => replayed)).toEqual([false]);
  client.close();
});
