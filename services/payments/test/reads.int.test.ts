import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import type { BodyOf, ResponseOf } from '@quittance/contracts/call.ts';
import type {
  OperatorsPayment,
  ReadPaymentDetails,
  ReadPublicPayments,
} from '@quittance/contracts/http/payments/payments.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { expectPrismaMatchesDatabase } from '@quittance/testkit/prisma-schema.ts';
import { schema } from '../src/migrations.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, newPayment, type PaymentPage, wholeSecond } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());

const tokenHash = (payment: Payment): string => sha256(payment.payment_url.split('/').at(-1)!).toString('hex');

/** Reads all pages. @returns the ids in their order. */
async function walk(
  merchantId: string,
  query: Record<string, string>,
  between: () => Promise<unknown> = async () => {},
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const parameters: URLSearchParams = new URLSearchParams({ ...query, ...(cursor !== '' && { cursor }) });
    const path = `/merchants/${merchantId}/payments?${parameters.toString()}`;
    const { json } = await payments.call<PaymentPage>('GET', path);
    ids.push(...json.payments.map((payment) => payment.payment_id));
    cursor = json.next_cursor;
    await between();
  }
  return ids;
}

describe('the list', () => {
  test('pages through all payments newest first, and concurrent creations neither repeat nor skip one', async () => {
    const merchantId = await newMerchant(payments);
    const created: string[] = [];
    for (let position = 0; position < 11; position += 1) {
      created.unshift((await newPayment(payments, {}, merchantId)).payment.payment_id);
    }
    const walked = await walk(merchantId, { limit: '3' }, () => create(payments, merchantId));
    expect(walked).toEqual(created);
  });

  test('has no cursor after a full last page, and is empty for a merchant without payments', async () => {
    const { merchantId } = await newPayment(payments);
    await newPayment(payments, {}, merchantId);
    const { json } = await payments.call<PaymentPage>('GET', `/merchants/${merchantId}/payments?limit=2`);
    expect([json.payments.length, json.next_cursor]).toEqual([2, null]);
    const nobody = await newMerchant(payments);
    expect((await payments.call('GET', `/merchants/${nobody}/payments`)).json).toEqual({
      payments: [],
      next_cursor: null,
    });
  });

  test('filters by status and by time, from inclusive and to exclusive', async () => {
    const one = await newPayment(payments);
    const { merchantId } = one;
    const two = await newPayment(payments, {}, merchantId);
    await one.cancel();
    await two.age(60);
    expect(await walk(merchantId, { status: 'CANCELLED' })).toEqual([one.payment.payment_id]);
    const { created_at: createdAt } = one.payment;
    expect(await walk(merchantId, { created_from: createdAt })).toEqual([one.payment.payment_id]);
    expect(await walk(merchantId, { created_to: createdAt })).toEqual([two.payment.payment_id]);
  });

  test('422 names each wrong parameter', async () => {
    const merchantId = await newMerchant(payments);
    const query = 'status=OPEN&limit=101&cursor=AAAA&created_from=yesterday&created_to=tomorrow';
    const { status, json } = await payments.call('GET', `/merchants/${merchantId}/payments?${query}`);
    expect(status).toBe(422);
    expect(json.detail.map(({ field }) => field).sort()).toEqual([
      'created_from',
      'created_to',
      'cursor',
      'limit',
      'status',
    ]);
  });

  test('contains the payments as they were created', async () => {
    const { merchantId, payment } = await newPayment(payments, { amount: '7.10' });
    expect((await payments.call<PaymentPage>('GET', `/merchants/${merchantId}/payments`)).json.payments).toEqual([
      payment,
    ]);
  });
});

describe('the details', () => {
  const ask = async (asked: BodyOf<typeof ReadPaymentDetails>['payments']) =>
    (await payments.call<ResponseOf<typeof ReadPaymentDetails>>('POST', '/payment-details', { payments: asked })).json
      .found;

  test('warn of a network that cannot be read just now, of a payment that is not paid, and so does the page', async () => {
    const one = await newPayment(payments);
    const paid = await newPayment(payments);
    await paid.observe({ phase: 'confirmed', confirmations: 2 });
    await eventually(async () => expect((await paid.details()).status).toBe('PAID'));
    const { tips } = payments.stubs;
    tips.heights.set('local', 7);
    tips.unreadable.add('local');
    try {
      await eventually(async () => expect((await one.details()).warnings).toEqual(['network_unreadable']));
      expect((await paid.details()).warnings).toEqual([]);
      const token = one.payment.payment_url.split('/').at(-1)!;
      const help = await payments.call('POST', '/checkout-help', { token_sha256: sha256(token).toString('hex') });
      expect(help.json).toMatchObject({ warnings: ['network_unreadable'] });
      const { json } = await payments.call('GET', `/payments/${one.payment.payment_id}`);
      expect(json).toMatchObject({ warnings: ['network_unreadable'] });
    } finally {
      tips.unreadable.clear();
      tips.heights.clear();
    }
    await eventually(async () => expect((await one.details()).warnings).toEqual([]));
  });

  test('of several payments come in one answer that names the merchant of each', async () => {
    const [one, two] = [await newPayment(payments, { amount: '7.10' }), await newPayment(payments)];
    const asked = [one, two, one].map(({ merchantId, payment }) => ({
      merchant_id: merchantId,
      payment_id: payment.payment_id,
    }));
    const found = await ask(asked.slice(0, 2));
    expect(found).toHaveLength(2);
    for (const { merchantId, payment } of [one, two]) {
      expect(found).toContainEqual({
        merchant_id: merchantId,
        payment: { ...payment, unmatched_transfers: [], transfers: [], warnings: [] },
      });
    }
  });

  test('of an unknown payment, and of another merchant’s, are missing', async () => {
    const { payment } = await newPayment(payments);
    const other = await newMerchant(payments);
    const unknown = `pay_${'0'.repeat(32)}`;
    expect(await ask([payment.payment_id, unknown].map((id) => ({ merchant_id: other, payment_id: id })))).toEqual([]);
    expect(await ask([])).toEqual([]);
  });

  test('show each payment the transfers of its own wallet, newest first', async () => {
    const [one, two] = [await newPayment(payments, { amount: '5' }), await newPayment(payments, { amount: '5' })];
    const first = await one.observe({ amount_units: '4000000' });
    const second = await one.observe({
      amount_units: '6000000',
      block_timestamp: wholeSecond(one.payment.created_at, 3),
    });
    const foreign = await two.observe({ amount_units: '1000000' });
    await eventually(async () => {
      expect((await one.details()).unmatched_transfers).toMatchObject([
        { transaction_id: second.transaction_id, amount: '6', reason: 'overpaid' },
        { transaction_id: first.transaction_id, amount: '4', reason: 'underpaid' },
      ]);
      expect((await two.details()).unmatched_transfers).toMatchObject([{ transaction_id: foreign.transaction_id }]);
    });
  });
});

describe('what a public token shows', () => {
  const ask = (...tokens: string[]) =>
    payments.call<ResponseOf<typeof ReadPublicPayments>>('POST', '/public-payments', { tokens_sha256: tokens });

  test('is its public fields, no transaction whatever its status, and the confirmations for the page', async () => {
    const one = await newPayment(payments);
    const { payment } = one;
    const hash = tokenHash(payment);
    const show = async () => (await ask('0'.repeat(64), hash)).json.found;
    const found = (view: { status: string }, confirmations: object | null) => [
      {
        token_sha256: hash,
        payment: view,
        confirmations,
        server_time: expect.any(String),
        ...forThePage,
        ...paidAt(view.status),
      },
    ];
    const forThePage = {
      merchant_id: expect.stringMatching(/^mer_/),
      reference: payment.reference,
      return_url: null,
      ...{ price: null, rate: null },
      received: null,
    };
    const paidAt = (status: string) => ({ paid_at: status === 'PAID' ? expect.stringMatching(/Z$/) : null });
    const shown = {
      status: 'PENDING',
      amount: payment.amount,
      currency: 'USDT',
      network: 'local',
      merchant_wallet: payment.merchant_wallet,
      description: payment.description,
      expires_at: payment.expires_at,
    };
    expect(await show()).toEqual(found(shown, null));
    const seen = await one.observe();
    await eventually(async () =>
      expect(await show()).toEqual(found({ ...shown, status: 'CHECKING' }, { seen: 1, required: 2 })),
    );
    await one.observe({ ...seen, phase: 'confirmed', version: 2 });
    await eventually(async () => expect(await show()).toEqual(found({ ...shown, status: 'PAID' }, null)));
  });

  test('has the time of the clock that decides whether the payment has expired', async () => {
    const [one, two] = [await newPayment(payments), await newPayment(payments)];
    // The database's clock in whole milliseconds, before and after the view.
    const now = async () => {
      const { rows } = await payments.db.query<{ now: string }>(`select date_trunc('milliseconds', now()) as now`);
      return new Date(rows[0]!.now).toISOString();
    };
    const before = await now();
    const { found } = (await ask(tokenHash(one.payment), tokenHash(two.payment))).json;
    const after = await now();
    const [time] = found.map(({ server_time: moment }) => moment);
    expect(found.map(({ server_time: moment }) => moment)).toEqual([time, time]);
    expect([before, time, after].toSorted()).toEqual([before, time, after]);
  });

  test('is 422 for a text that is not a token’s hash', async () => {
    for (const hash of ['abc', 'G'.repeat(64)]) expect((await ask(hash)).status).toBe(422);
  });
});

describe('the operator', () => {
  test('sees a payment with its merchant, its transfers and its incidents', async () => {
    const one = await newPayment(payments, { amount: '10' });
    const paid = await one.observe({ phase: 'confirmed' });
    await eventually(async () => expect(await one.details()).toMatchObject({ status: 'PAID' }));
    const { json } = await payments.call('GET', `/payments/${one.payment.payment_id}`);
    expect(json).toMatchObject({
      payment_id: one.payment.payment_id,
      status: 'PAID',
      merchant_id: one.merchantId,
      transfers: [
        {
          transaction_id: paid.transaction_id,
          amount: '10',
          amount_units: '10000000',
          phase: 'confirmed',
          reason: null,
        },
      ],
      incidents: [],
    });
    expect((await payments.call('GET', `/payments/pay_${'0'.repeat(32)}`)).status).toBe(404);
  });

  test('sees the same reason for a payment’s transfer as the merchant does', async () => {
    const one = await newPayment(payments, { amount: '5' });
    const two = await newPayment(payments, { amount: '7', wallet: one.payment.merchant_wallet }, one.merchantId);
    const transfer = await two.observe({ amount_units: '6000000' });
    const candidates = [two, one].map(({ payment }) => payment.payment_id).toSorted();
    for (const [payment, reason] of [
      [one, 'overpaid'],
      [two, 'underpaid'],
    ] as const) {
      await eventually(async () =>
        expect((await payment.details()).unmatched_transfers).toMatchObject([{ reason, candidate_count: 2 }]),
      );
      const { json } = await payments.call<OperatorsPayment>('GET', `/payments/${payment.payment.payment_id}`);
      expect(json).toMatchObject({ transfers: [{ transaction_id: transfer.transaction_id, reason }] });
      expect(json.transfers[0]!.candidates.toSorted()).toEqual(candidates);
    }
  });
});

test('schema.prisma matches the migrated database', async () => {
  await expectPrismaMatchesDatabase({
    schemaFile: new URL('../prisma/schema.prisma', import.meta.url),
    url: payments.databaseUrl,
    schema,
  });
});

test('replies past their retention are dropped a month at a time, and the coming months have partitions', async () => {
  const names = async () => {
    const { rows } = await payments.db.query<{ relname: string }>(
      `select child.relname from pg_inherits join pg_class child on child.oid = inhrelid where inhparent = 'idempotent_reply'::regclass`,
    );
    return rows.map(({ relname }) => relname);
  };
  await payments.db.query(
    `create table idempotent_reply_2020_01 partition of idempotent_reply for values from ('2020-01-01 00:00+00') to ('2020-02-01 00:00+00')`,
  );
  const kept = (await names()).filter((name) => name !== 'idempotent_reply_2020_01');
  await payments.db.query('select keep_reply_partitions()');
  const left = await names();
  expect(left).not.toContain('idempotent_reply_2020_01');
  expect(left).toEqual(expect.arrayContaining(kept));
  expect(left.length).toBeGreaterThanOrEqual(3);
});
