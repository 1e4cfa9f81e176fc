import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { inSpan, type Span, tracer } from '@quittance/runtime/tracing/tracing.ts';
import { recordSpans } from '@quittance/testkit/spans.ts';
import { newWallet } from '@quittance/testkit/chain/samples.ts';
import { startWorld, untilReceived, untilWatched, type World } from './world.ts';

let world: World;
let spans: ReturnType<typeof recordSpans>;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  spans = recordSpans();
});
afterEach(() => spans.stop());

/** Announces a payment in its own trace. @returns the span of the announcement. */
async function announce(recipient: string, amount: string, origin: string | null = null): Promise<Span> {
  const span = tracer()!.start(`payment of ${amount}`, 'internal', { origin: { parent: origin } });
  await inSpan(span, () => world.publishPaymentCreated({ recipient, amount }));
  span.end();
  return span;
}

const traceOf = (span: Span): string => span.traceparent.slice(3, 35);
const rowsOf = async (wallet: string): Promise<number> =>
  (await world.pool.query('select from traced_payment where address = decode($1, $2)', [wallet.slice(2), 'hex']))
    .rowCount!;

test('a transfer that another process sees later continues the trace of the payment that it pays', async () => {
  const [wallet, first] = [newWallet(), world.watch()];
  const [ten, eleven] = [await announce(wallet, '10.5'), await announce(wallet, '11')];
  await untilWatched(world, wallet);
  await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created', 2);
  await first.close();

  world.watch({ confirmations: 2 });
  await world.chain.transfer(wallet, 11_000_000n);
  await world.chain.mine(1);
  await untilReceived(world, wallet, ['seen', 'confirmed']);
  const [seen] = await spans.named('observe transfer seen');
  const [confirmed] = await spans.named('observe transfer confirmed');
  const created = (await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created', 2)).find(
    ({ traceId }) => traceId === traceOf(eleven),
  );
  expect([seen, confirmed].map((span) => span!.parentSpanId)).toEqual([created!.spanId, created!.spanId]);
  expect([seen, confirmed].map((span) => span!.traceId)).toEqual([traceOf(eleven), traceOf(eleven)]);
  expect(seen!.attributes).toMatchObject({ 'quittance.network': 'local', 'quittance.transfer_phase': 'seen' });
  const told = await spans.named('process quittance:TransferObserved:payments.transfer-observed', 2);
  expect(told.map(({ traceId }) => traceId)).toEqual([traceOf(eleven), traceOf(eleven)]);

  await world.chain.transfer(wallet, 10_500_000n);
  const [, other] = await spans.named('observe transfer seen', 2);
  expect(other!.traceId).toBe(traceOf(ten));
});

test('a trace that is not sampled is not kept, and its transfer is in no trace of ours', async () => {
  world.watch();
  const wallet = newWallet();
  await announce(wallet, '12', `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`);
  await untilWatched(world, wallet);
  expect(await rowsOf(wallet)).toBe(0);
  const hash = await world.chain.transfer(wallet, 12_000_000n);
  await untilReceived(world, wallet, ['seen']);
  const traced = spans.ended().map(({ attributes }) => attributes['quittance.transaction_id']);
  expect(traced).not.toContain(hash.slice(2));
});

test('the next payment with the same wallet and amount replaces the trace, and expired traces are deleted', async () => {
  world.watch();
  const wallet = newWallet();
  await announce(wallet, '13');
  await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created');
  const second = await announce(wallet, '13');
  await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created', 2);
  expect(await rowsOf(wallet)).toBe(1);
  await untilWatched(world, wallet);
  await world.chain.transfer(wallet, 13_000_000n);
  const [seen] = await spans.named('observe transfer seen');
  expect(seen!.traceId).toBe(traceOf(second));

  await world.pool.query(`update traced_payment set forget_at = now() - interval '1 second'`);
  await announce(newWallet(), '14');
  await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created', 3);
  expect(await rowsOf(wallet)).toBe(0);
});

test('a transfer more than an hour later begins a trace that is linked to the payment', async () => {
  world.watch();
  const wallet = newWallet();
  const payment = await announce(wallet, '15');
  await untilWatched(world, wallet);
  const [created] = await spans.named('process quittance:PaymentCreated:chain-watcher.payment-created');
  await world.pool.query(`update traced_payment set received_at = now() - interval '2 hours'`);
  await world.chain.transfer(wallet, 15_000_000n);
  const [seen] = await spans.named('observe transfer seen');
  expect(seen).toMatchObject({ parentSpanId: null, links: [created!.spanId] });
  expect(seen!.traceId).not.toBe(traceOf(payment));
});
