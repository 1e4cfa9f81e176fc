import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { type PaymentsUnderTest, startPayments } from './service.ts';
import { newPayment } from './fixtures.ts';

// Real processes are slow on a busy machine; no test here depends on the time.
let payments: PaymentsUnderTest;
beforeAll(async () => {
  payments = await startPayments();
});
afterAll(() => payments.close());
beforeEach(() => payments.db.query('delete from incident'));

type Incident = {
  incident_id: string;
  merchant_id: string;
  payment_id: string;
  opened_at: string;
  resolved_at: string | null;
  resolved_by: string | null;
  resolved_reason: string | null;
};

const author = { actor: 'olga', reason: 'the customer paid again' };

const list = async (query = '') =>
  (await payments.call<{ incidents: Incident[] }>('GET', `/incidents${query}`)).json.incidents;

const resolve = (id: string, by: object = author) => payments.call<Incident>('POST', `/incidents/${id}/resolve`, by);

/** This many incidents about one payment, several of them opened in the same millisecond. */
async function openIncidents(count: number): Promise<string> {
  const { payment } = await newPayment(payments);
  await payments.db.query(
    `insert into incident (kind, payment_id, merchant_id, network, transaction_id, transaction_event_index, block_hash, opened_at)
     select 'paid_transfer_gone', payment_id, merchant_id, network, repeat('a', 64), n, '0x00', now() + n / 10 * interval '1 second'
       from payment, generate_series(1, $2) n where payment_id = $1`,
    [payment.payment_id, count],
  );
  return payment.payment_id;
}

const shownOpen = async (): Promise<number> => {
  const { port } = payments.logs().find(({ msg }) => msg === 'listening')!;
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^payment_open_incidents\{.*\} (\d+)$/m.exec(text)?.[1]);
};

describe('incidents', () => {
  test('are opened when the transfer of a paid payment leaves the chain, listed, and resolved with an author and a reason', async () => {
    const one = await newPayment(payments);
    const transfer = await one.observe({ phase: 'confirmed' });
    await eventually(async () => expect((await one.details()).status).toBe('PAID'));
    await one.observe({ ...transfer, phase: 'retracted', version: 2 });
    const [opened] = await eventually(async () => {
      const incidents = await list();
      expect(incidents).toHaveLength(1);
      return incidents;
    });
    expect(opened).toEqual({
      incident_id: expect.any(String),
      kind: 'paid_transfer_gone',
      payment_id: one.payment.payment_id,
      merchant_id: one.merchantId,
      network: 'local',
      transaction_id: transfer.transaction_id,
      transaction_event_index: 3,
      block_hash: transfer.block_hash,
      opened_at: expect.stringMatching(/Z$/),
      resolved_at: null,
      resolved_by: null,
      resolved_reason: null,
    });
    await eventually(async () => expect(await shownOpen()).toBe(1));

    const resolved = await resolve(opened!.incident_id);
    expect(resolved.status).toBe(200);
    expect((await payments.call('GET', `/merchants/${opened!.merchant_id}/audit`)).json).toMatchObject({
      entries: [{ action: 'resolve_incident', ...author, after: { incident_id: opened!.incident_id, resolved: true } }],
    });
    expect(resolved.json).toEqual({
      ...opened,
      resolved_at: expect.stringMatching(/Z$/),
      resolved_by: 'olga',
      resolved_reason: 'the customer paid again',
    });
    expect(await list()).toEqual([]);
    expect(await list('?status=all')).toEqual([resolved.json]);
    await eventually(async () => expect(await shownOpen()).toBe(0));
    // Nothing about the payment has changed.
    expect((await one.details()).status).toBe('PAID');
  });

  test('stay resolved by the first operator', async () => {
    await openIncidents(1);
    const [{ incident_id: id }] = (await list()) as [Incident];
    const answers = await Promise.all(['anna', 'bert', 'carl'].map((actor) => resolve(id, { ...author, actor })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const again = await resolve(id, { actor: 'dora', reason: 'another one' });
    expect(again.text).toBe(answers[0]!.text);
  });

  test('are listed newest first, a hundred at a time, none twice and none missing', async () => {
    await openIncidents(230);
    const pages = [await list()];
    while (pages.at(-1)!.length > 0) pages.push(await list(`?before=${pages.at(-1)!.at(-1)!.incident_id}`));
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30, 0]);
    const all = pages.flat();
    expect(new Set(all.map(({ incident_id }) => incident_id)).size).toBe(230);
    const times = all.map(({ opened_at }) => opened_at);
    expect(times).toEqual(times.toSorted().reverse());
    // The page after one that was resolved in the meantime continues where it was.
    await resolve(pages[0]!.at(-1)!.incident_id);
    expect(await list(`?before=${pages[0]!.at(-1)!.incident_id}`)).toEqual(pages[1]);
    expect(await list()).toHaveLength(100);
    expect((await list('?status=all'))[0]).toEqual(pages[0]![0]);
  });

  test.each([
    ['?status=closed', 'status'],
    ['?before=yesterday', 'before'],
  ])('a list %s is refused and named', async (query, field) => {
    const answer = await payments.call('GET', `/incidents${query}`);
    expect(answer).toMatchObject({ status: 422, json: { detail: [{ field }] } });
  });

  test('cannot be resolved when they do not exist, nor without actor and reason', async () => {
    for (const id of [randomUUID(), 'yesterday', 'a'.repeat(36)]) {
      expect(await resolve(id)).toMatchObject({ status: 404, json: { detail: 'Incident not found' } });
    }
    await openIncidents(1);
    const [{ incident_id: id }] = (await list()) as [Incident];
    expect(await resolve(id, { actor: 'olga' })).toMatchObject({
      status: 422,
      json: { detail: [{ field: 'reason' }] },
    });
    expect(await list()).toHaveLength(1);
  });
});
