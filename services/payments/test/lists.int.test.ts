import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId, newPublicToken, sha256 } from '@quittance/contracts/ids.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import type { Payment, PaymentStatus } from '@quittance/contracts/api/payment.ts';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { create, newMerchant, newPayment, newWallet, type PaymentPage, transferFor } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.

let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments({ replicas: 2 });
});
afterAll(() => payments.close());

/** How many payments share each of the times: then only their ids distinguish them. */
const PAYMENTS_OF_ONE_MILLISECOND = 9;
const TIMES = ['10:00:00.000', '10:00:00.001', '10:00:00.002', '11:30:00.500', '11:30:00.501'].map(
  (time) => `2026-01-05T${time}Z`,
);
const PAGE_SIZES = amountOf({ short: [1, 4, 7], long: [1, 2, 3, 4, 5, 6, 7] });

/** The queries, and which of the payments that existed before the walk each must show. */
const lists: { name: string; query: Record<string, string>; shows: (payment: Settled) => boolean }[] = [
  { name: 'everything', query: {}, shows: () => true },
  { name: 'one status', query: { status: 'PAID' }, shows: ({ status }) => status === 'PAID' },
  {
    name: 'a span of time that begins and ends within crowded milliseconds',
    query: { created_from: TIMES[1]!, created_to: TIMES[4]! },
    shows: ({ created_at: at }) => at >= TIMES[1]! && at < TIMES[4]!,
  },
  {
    name: 'one status in a span of time',
    query: { status: 'EXPIRED', created_from: TIMES[0]!, created_to: TIMES[3]! },
    shows: ({ status, created_at: at }) => status === 'EXPIRED' && at < TIMES[3]!,
  },
];

test.each(lists)(
  'a walk through $name repeats and skips nothing while payments are created and change',
  async ({ query, shows }) => {
    const merchantId = await newMerchant(payments);
    const settled = await insertSettled(merchantId);
    const expected = newestFirst(settled.filter(shows)).map(({ payment_id: id }) => id);
    expect(expected.length).toBeGreaterThanOrEqual(PAYMENTS_OF_ONE_MILLISECOND);
    const known = new Set(settled.map(({ payment_id: id }) => id));
    const traffic = startTraffic(merchantId);
    try {
      // Repeats until something happened during a walk, or it would prove nothing.
      for (let walks = 0; walks < PAGE_SIZES.length || !traffic.isBusy(); walks += 1) {
        const limit = PAGE_SIZES[walks % PAGE_SIZES.length]!;
        const seen = await walk(merchantId, { ...query, limit: String(limit) }, limit);
        expect(seen.filter(({ payment_id: id }) => known.has(id)).map(({ payment_id: id }) => id)).toEqual(expected);
        // Payments created or changed in the meantime may be there or not, but never twice and never out of order.
        expect(seen.map(({ payment_id: id }) => id)).toEqual(newestFirst(seen).map(({ payment_id: id }) => id));
        expect(new Set(seen.map(({ payment_id: id }) => id)).size).toBe(seen.length);
        if (query['status'] !== undefined) expect(seen.every(({ status }) => status === query['status'])).toBe(true);
      }
    } finally {
      await traffic.stop();
    }
  },
);

test('a list paged from the newest includes payments that change their status between two pages', async () => {
  const merchantId = await newMerchant(payments);
  const created: Payment[] = [];
  for (let position = 0; position < 9; position += 1)
    created.unshift((await newPayment(payments, {}, merchantId)).payment);
  const first = await page(merchantId, { limit: '4' });
  // One that was already shown, the one that the cursor points at, and one that is still to come.
  for (const position of [0, 3, 6]) {
    const { payment_id: id } = created[position]!;
    expect((await payments.call('POST', `/merchants/${merchantId}/payments/${id}/cancel`)).status).toBe(200);
  }
  const rest = await page(merchantId, { limit: '100', cursor: first.next_cursor! });
  const ids = [...first.payments, ...rest.payments].map(({ payment_id: id }) => id);
  expect(ids).toEqual(created.map(({ payment_id: id }) => id));
  expect(rest.payments.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'CANCELLED', 'PENDING', 'PENDING']);
});

type Settled = { payment_id: string; created_at: string; status: PaymentStatus };

/** Payments that no longer change, with times that creating them could not produce. */
async function insertSettled(merchantId: string): Promise<Settled[]> {
  const statuses = ['PAID', 'EXPIRED', 'CANCELLED'] as const;
  const settled = TIMES.flatMap((at) =>
    Array.from({ length: PAYMENTS_OF_ONE_MILLISECOND }, (_, position) => ({
      payment_id: newId('pay', new Date(at)),
      created_at: at,
      status: statuses[position % statuses.length]!,
      token: newPublicToken(),
      recipient: newWallet(),
    })),
  );
  const { rows } = await payments.db.query<Settled & { created_at: Date }>(
    `insert into payment (payment_id, merchant_id, public_token, token_sha256, status, network, recipient, amount, amount_units,
                          description, created_at, expires_at, expiry_check_at, paid_at, cancelled_at)
     select payment_id, $1, token, token_sha256, status, 'local', recipient, '1', 1000000, 'Two tickets', at,
            at + interval '30 minutes', at, case status when 'PAID' then at end, case status when 'CANCELLED' then at end
       from unnest($2::text[], $3::text[], $4::bytea[], $5::text[], $6::text[], $7::timestamptz[])
         as t (payment_id, token, token_sha256, status, recipient, at)
     returning payment_id, status, created_at`,
    [
      merchantId,
      settled.map(({ payment_id: id }) => id),
      settled.map(({ token }) => token),
      settled.map(({ token }) => sha256(token)),
      settled.map(({ status }) => status),
      settled.map(({ recipient }) => recipient),
      settled.map(({ created_at: at }) => at),
    ],
  );
  return rows.map((row) => ({ ...row, created_at: row.created_at.toISOString() }));
}

const newestFirst = <P extends { created_at: string; payment_id: string }>(list: readonly P[]): P[] =>
  [...list].sort((one, other) => (orderOf(one) < orderOf(other) ? 1 : -1));

// Ids are hexadecimal and times have one length, so their texts sort in the same order.
const orderOf = ({ created_at: at, payment_id: id }: { created_at: string; payment_id: string }) => `${at} ${id}`;

async function page(merchantId: string, query: Record<string, string>): Promise<PaymentPage> {
  const path = `/merchants/${merchantId}/payments?${new URLSearchParams(query).toString()}`;
  const answer = await payments.call<PaymentPage>('GET', path);
  expect(answer.status).toBe(200);
  return answer.json;
}

/** Far more than there can be: a walk that goes in circles has to end as well. */
const MOST_PAYMENTS = 2_000;

/** Reads page after page until the last. */
async function walk(merchantId: string, query: Record<string, string>, limit: number): Promise<Payment[]> {
  const seen: Payment[] = [];
  let cursor: string | null = null;
  do {
    const { payments: shown, next_cursor: next }: PaymentPage = await page(merchantId, {
      ...query,
      ...(cursor !== null && { cursor }),
    });
    // Only the last page may hold less than the limit.
    if (next !== null) expect(shown).toHaveLength(limit);
    seen.push(...shown);
    cursor = next;
  } while (cursor !== null && seen.length < MOST_PAYMENTS);
  return seen;
}

/** A merchant's busy day: payments are created all the time, and each third is cancelled, seen on the chain, or paid. */
function startTraffic(merchantId: string) {
  const done = { created: 0, changed: 0 };
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      // Each creation in the meantime makes a walk longer.
      await pause(20);
      const { json: payment, status } = await create(payments, merchantId);
      if (status !== 201) continue;
      done.created += 1;
      await change(merchantId, payment, done.created % 3);
      done.changed += 1;
    }
  };
  const running = Promise.all([run(), run()]);
  // Awaited when it is stopped; until then it must not count as an unhandled rejection.
  running.catch(() => undefined);
  return {
    isBusy: () => done.changed > PAGE_SIZES.length,
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

async function change(merchantId: string, payment: Payment, kind: number): Promise<void> {
  if (kind === 0) {
    const path = `/merchants/${merchantId}/payments/${payment.payment_id}/cancel`;
    await payments.call('POST', path);
    return;
  }
  await payments.publish(
    TransferObserved,
    transferFor(merchantId, payment, { phase: kind === 1 ? 'seen' : 'confirmed' }),
  );
}
