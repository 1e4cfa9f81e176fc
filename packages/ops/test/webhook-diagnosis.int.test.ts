import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const merchant = `mer_${'a'.repeat(32)}`;
const event = `evt_${'b'.repeat(32)}`;
const payment = `pay_${'c'.repeat(32)}`;
const key = `whk_${'d'.repeat(32)}`;
const time = (minute: number): string => `2026-11-21T20:${String(minute).padStart(2, '0')}:00.000Z`;

const lane = {
  ...{
    merchant_id: merchant,
    events: 'paid',
    host: 'shop.example',
    private_target: null,
    due: 12,
    oldest_due_at: time(1),
    held: false,
    failures: 64,
  },
  ...{ failing_since: time(2), error_category: 'connect_refused', circuit_state: 'open', open_until: time(9) },
  ...{ times_opened: 4, recovery_limit: null, put_off_until: time(9) },
};
const pending = {
  ...{
    event_id: event,
    payment_id: payment,
    event_type: null,
    merchant_id: merchant,
    status: 'pending',
    attempts: 2,
    created_at: time(0),
  },
  ...{ last_attempt_at: time(3), next_attempt_at: time(8), delivered_at: null, error_category: 'http_5xx' },
  ...{ cycle: 1, cycle_started_at: time(0), interruptions: 1, in_flight: false },
};
const attempts = [
  {
    ...{ cycle: 1, n: 2, started_at: time(3), duration_ms: 5012, http_status: null, error_category: 'connect_timeout' },
    ...{ key_id: key, remote_ip: null },
  },
  {
    ...{ cycle: 1, n: 1, started_at: time(2), duration_ms: 81, http_status: 503, error_category: 'http_5xx' },
    ...{ key_id: key, remote_ip: '8.8.8.8' },
  },
];

/** A dispatcher that knows this of the one event there is. */
const dispatcherWith = (body: object) => {
  const answer = () => ({ status: 200, body });
  return { 'GET /events/:id': answer, 'GET /payments/:id/event': answer };
};

describe('webhook show', () => {
  test('has the record, why its lane waits, and each attempt, by the event or by its payment', async () => {
    const described = { event: pending, lane, attempts };
    await using services = await startServices(dispatcherWith(described));
    const shown = await runOps(['webhook', 'show', event], services.env);
    expect(shown).toEqual({ code: 0, stderr: '', stdout: expect.any(String) });
    expect(shown.stdout).toBe(`event          ${event}
type           PAID
payment        ${payment}
merchant       ${merchant}
created        2026-11-21 20:00:00Z
status         pending: due 2026-11-21 20:08:00Z
attempts       2 in cycle 1, which began 2026-11-21 20:00:00Z
interruptions  1
last error     http_5xx
lane           circuit open until 2026-11-21 20:09:00Z; 12 due, oldest 2026-11-21 20:01:00Z

attempts
  started               cycle  n  took ms  status  result           address  key
  2026-11-21 20:03:00Z      1  2     5012       -  connect_timeout  -        ${key}
  2026-11-21 20:02:00Z      1  1       81     503  http_5xx         8.8.8.8  ${key}
`);
    const json = await runOps(['webhook', 'show', payment, '--json'], services.env);
    expect(JSON.parse(json.stdout)).toEqual(described);
    expect(services.calls.map(({ path }) => path)).toEqual([`/events/${event}`, `/payments/${payment}/event`]);
  });

  test.each([
    [{ in_flight: true }, lane, 'pending: being sent; sent again 2026-11-21 20:08:00Z if that is cut off'],
    [{ status: 'delivered', delivered_at: time(7) }, lane, 'delivered 2026-11-21 20:07:00Z'],
    [
      { status: 'failed', next_attempt_at: null },
      null,
      'failed: no attempt is left until an operator or the merchant retries it',
    ],
  ])('says of %j how it is', async (change, itsLane, status) => {
    await using services = await startServices(
      dispatcherWith({ event: { ...pending, ...change }, lane: itsLane, attempts: [] }),
    );
    const { stdout } = await runOps(['webhook', 'show', event], services.env);
    expect(stdout).toContain(`status         ${status}\n`);
    // How others wait is of interest only while this one does.
    expect(stdout.includes('\nlane ')).toBe('in_flight' in change);
    expect(stdout).toContain('attempts\n  (none)\n');
  });

  test('says how to go on after a hundred attempts', async () => {
    const many = Array.from({ length: 100 }, (_item, n) => ({ ...attempts[1]!, n: 100 - n }));
    await using services = await startServices(dispatcherWith({ event: pending, lane, attempts: many }));
    const { stderr } = await runOps(['webhook', 'show', event], services.env);
    expect(stderr).toBe(`There may be older ones: webhook show ${event} --before ${time(2)}\n`);
    await runOps(['webhook', 'show', event, '--before', time(2)], services.env);
    expect(services.calls.map(({ query }) => new URLSearchParams(query).get('before'))).toEqual([null, time(2)]);
  });

  test('wants an event or a payment, and says when there is none', async () => {
    await using services = await startServices({
      'GET /events/:id': () => ({ status: 404, body: { detail: 'Webhook event not found' } }),
    });
    expect(await runOps(['webhook', 'show', merchant], services.env)).toMatchObject({ code: 2 });
    expect(services.calls).toEqual([]);
    expect(await runOps(['webhook', 'show', event], services.env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Webhook event not found'),
    });
  });
});

describe('webhook lanes', () => {
  test('says of each merchant why its events wait', async () => {
    const closed = { ...lane, circuit_state: 'closed', open_until: null, put_off_until: null };
    const lanes = [
      lane,
      { ...closed, put_off_until: time(6) },
      { ...closed, circuit_state: 'recovering', recovery_limit: 4 },
      { ...closed, host: null, due: 1000, times_opened: 1 },
      { ...closed, failures: 0, failing_since: null, error_category: null, times_opened: 0 },
      { ...lane, circuit_state: 'half_open' },
      { ...closed, events: 'notices', put_off_until: time(6) },
    ];
    await using services = await startServices({ 'GET /lanes': () => ({ status: 200, body: { lanes, total: 107 } }) });
    const shown = await runOps(['webhook', 'lanes'], services.env);
    expect(shown).toMatchObject({ code: 0, stderr: '7 of 107.\n' });
    const rows = shown.stdout.split('\n').slice(1, 8);
    const states = [
      'circuit open until 2026-11-21 20:09:00Z',
      'host cannot be reached; next attempt 2026-11-21 20:06:00Z',
    ];
    const others = [
      'circuit recovering: 4 at a time',
      'no endpoint yet',
      'circuit closed',
      'circuit half-open: a probe is in flight',
      'PAID events go first, or host cannot be reached; next attempt 2026-11-21 20:06:00Z',
    ];
    for (const [at, state] of [...states, ...others].entries()) expect(rows[at]).toContain(`  ${state}  `);
    expect(rows[0]).toMatch(/ 12 .*64 {2}2026-11-21 20:02:00Z {2}connect_refused {2}4 times$/);
    expect(rows[3]).toContain('1000 or more');
    expect(rows[3]).toMatch(/ once$/);
    expect(rows[4]).toMatch(/ 0 {2}- +- +-$/);
  });

  test('says where a host in a private network is, and so does the event', async () => {
    const inside = { ...lane, host: 'shop.internal', private_target: '10.20.30.40:8443' };
    await using services = await startServices({
      'GET /lanes': () => ({ status: 200, body: { lanes: [inside], total: 1 } }),
      ...dispatcherWith({ event: pending, lane: inside, attempts }),
    });
    expect((await runOps(['webhook', 'lanes'], services.env)).stdout).toContain(
      '  shop.internal at 10.20.30.40:8443  ',
    );
    const { stdout } = await runOps(['webhook', 'show', event], services.env);
    expect(stdout).toContain('\nreceiver       shop.internal at 10.20.30.40:8443\n');
  });

  test('asks for those of blocked accounts, or for one merchant', async () => {
    const body = { lanes: [{ ...lane, held: true }], total: 1 };
    await using services = await startServices({ 'GET /lanes': () => ({ status: 200, body }) });
    const held = await runOps(['webhook', 'lanes', '--held'], services.env);
    expect(held).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining('held: the account is blocked'),
    });
    const one = await runOps(['webhook', 'lanes', '--merchant', merchant, '--json'], services.env);
    expect(JSON.parse(one.stdout)).toEqual(body);
    await runOps(['webhook', 'lanes'], services.env);
    expect(services.calls.map(({ query }) => query)).toEqual(['held=true', `merchant_id=${merchant}`, 'held=false']);
  });
});

test('merchant audit says of an endpoint what was chosen, and which private address it leads to', async () => {
  const entry = { at: time(1), action: 'endpoint_changed', actor: 'merchant', reason: null, before: null, after: null };
  const entries = [{ ...entry, event_id: null, events: ['PAID'], private_target: '10.20.30.40:8443' }];
  // All services answer the same here; quota has no entries.
  const answer = () => ({ status: 200, body: { entries, changes: [] } });
  await using services = await startServices({ 'GET /merchants/:merchant_id/audit': answer });
  const { stdout } = await runOps(['merchant', 'audit', merchant, '--json'], services.env);
  const shown = (JSON.parse(stdout) as { entries: { service: string }[] }).entries;
  expect(shown.filter(({ service }) => service === 'webhook-dispatcher')).toEqual([
    { ...entry, service: 'webhook-dispatcher', after: { events: ['PAID'], private_target: '10.20.30.40:8443' } },
  ]);
});
