import { expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

const violations = [
  { rule: 'I1 status and transfer agree', what: 'pay_1' },
  { rule: 'I1 status and transfer agree', what: 'pay_2' },
  { rule: 'money of the exact amount that came in time pays', what: 'pay_3' },
];
const ok = (body: object) => () => ({ status: 200, body });
const away = () => ({ status: 503, body: { detail: 'Service temporarily unavailable' } });

/** A system without payments, in which payments says what is broken. */
const system = (found: object[]) => ({
  'GET /check/payments': ok({ read_at: '2026-01-31T12:00:00.000Z', payments: [], violations: found, next: null }),
  'POST /check/events': ok({ events: 0, violations: [] }),
  'POST /check/transfers': ok({ violations: [] }),
  'GET /check/counters': ok({
    until: '2026-01-31T12:00:00.000Z',
    merchants: [],
    counted: 0,
    violations: [],
    next: null,
  }),
  'POST /check/usage': ok({ violations: [] }),
  'GET /chains': ok([]),
  'POST /check/report': ok({ kept: true }),
});

const told = (calls: { path: string; body: unknown }[]) =>
  calls.filter(({ path }) => path === '/check/report').map(({ body }) => body);
const times = { began_at: expect.any(String), ended_at: expect.any(String) };

test('ops check --report tells api-gateway that it looked at everything and that all holds', async () => {
  await using services = await startServices(system([]));
  const before = new Date().toISOString();
  expect(await runOps(['check', '--report'], services.env)).toMatchObject({ code: 0, stderr: '' });
  const outcomes = told(services.calls) as { began_at: string; ended_at: string }[];
  expect(outcomes).toEqual([{ ...times, whole: true, violations: [] }]);
  const order = [before, outcomes[0]!.began_at, outcomes[0]!.ended_at, new Date().toISOString()];
  expect(order).toEqual(order.toSorted());
});

test('ops check --report tells how often each rule is broken, and ends with 1 as it does without', async () => {
  await using services = await startServices(system(violations));
  const { code, stdout } = await runOps(['check', '--report'], services.env);
  expect([code, stdout]).toEqual([1, expect.stringContaining('pay_3')]);
  expect(told(services.calls)).toEqual([
    {
      ...times,
      whole: true,
      violations: [
        { rule: 'I1 status and transfer agree', count: 2 },
        { rule: 'money of the exact amount that came in time pays', count: 1 },
      ],
    },
  ]);
});

test('ops check --report that could not finish says so, claims nothing about rules, and names who did not answer', async () => {
  await using services = await startServices({ ...system(violations), 'GET /chains': away });
  expect(await runOps(['check', '--report'], services.env)).toMatchObject({
    code: 3,
    stdout: '',
    stderr: expect.stringContaining('chain-watcher'),
  });
  expect(told(services.calls)).toEqual([{ ...times, whole: false, violations: [] }]);
});

test('ops check --report shows what it found even where api-gateway cannot keep it, and ends with 3', async () => {
  await using services = await startServices({ ...system(violations), 'POST /check/report': away });
  expect(await runOps(['check', '--report'], services.env)).toMatchObject({
    code: 3,
    stdout: expect.stringContaining('pay_3'),
    stderr: expect.stringContaining('api-gateway'),
  });
});

test('ops check without --report keeps nothing', async () => {
  await using services = await startServices(system(violations));
  expect((await runOps(['check'], services.env)).code).toBe(1);
  expect(told(services.calls)).toEqual([]);
});

test('ops check --report always looks at the same span', async () => {
  await using services = await startServices(system([]));
  const words = ['check', '--report', '--since', '2026-01-31T12:00:00Z'];
  expect(await runOps(words, services.env)).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
  expect(services.calls).toEqual([]);
});

test('ops check asks about every transfer of payments that several transfers pay, and about each payment once', async () => {
  const payments = Array.from({ length: 600 }, (_, position) => ({
    payment_id: `pay_${String(Math.floor(position / 2)).padStart(32, '0')}`,
    state: 'told',
    transfer: {
      ...{ network: 'local', transaction_id: 'a'.repeat(64), transaction_event_index: position, accepted: false },
    },
  }));
  const page = { read_at: '2026-01-31T12:00:00.000Z', payments, violations: [], next: null };
  await using services = await startServices({ ...system([]), 'GET /check/payments': ok(page) });
  const { code, stdout, stderr } = await runOps(['check', '--json'], services.env);
  expect(stderr).toBe('');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { looked_at: { payments: 300 } }]);
  const bodies = (path: string) => services.calls.filter((call) => call.path === path).map(({ body }) => body);
  const events = bodies('/check/events') as { payments: object[] }[];
  expect(events.map((body) => body.payments.length)).toEqual([300]);
  const transfers = bodies('/check/transfers') as { transfers: { transaction_event_index: number }[] }[];
  expect(transfers.map((body) => body.transfers.length)).toEqual([500, 100]);
  const indexes = transfers.flatMap((body) => body.transfers.map(({ transaction_event_index: index }) => index));
  expect(indexes).toEqual(payments.map((_, position) => position));
});
