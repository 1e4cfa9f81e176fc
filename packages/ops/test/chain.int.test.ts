import { describe, expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const author = { actor: 'olga', reason: 'the node was broken' };
const why = ['--reason', author.reason];
const rescan = {
  ...{ rescan_id: 'r-1', network: 'local', state: 'waiting', from_block: 5, since: null, to_block: null },
  ...{ next_block: null, found: 0, error: null, ...author },
  ...{ requested_at: '2026-01-31T12:00:00.000Z', finished_at: null },
};
const running = { ...rescan, state: 'running', to_block: 204, next_block: 105 };
const done = { ...running, state: 'done', next_block: 205, found: 2, finished_at: '2026-01-31T12:01:00.000Z' };
const failed = { ...rescan, state: 'failed', error: 'no endpoint could read block 5' };

const chain = {
  ...{ network: 'local', head: 100, finalized: 60, final: 99, cursor: 100, audited: 98, lag_blocks: 0 },
  ...{ lag_seconds: 200, scanned_through: '2026-01-31T12:00:00.000Z', watched_wallets: 7, back_fills_waiting: 1 },
  asleep: true,
  ...{ open_incidents: 2, halted_at: '2026-01-31T12:00:00.000Z', halt_reason: 'the nodes have another block 60' },
  ...{ replica: 'pod-1:42', leader: true, clock_difference_seconds: -0.04, chain_clock_difference_seconds: 12.3 },
};

describe('chain status', () => {
  test('shows where each network stands, why one is halted, and who says how its nodes answer', async () => {
    const endpoint = {
      ...{ endpoint: 0, state: 'closed', head: 100, head_lag_blocks: 0, latency_ms: { p50: 3, p95: 9 }, requests: 50 },
      ...{
        failures: { timeout: 2, rate_limit: 1 },
        last_error: 'timeout: …',
        last_error_at: '2026-01-31T12:00:00.000Z',
      },
      cooldown_until: null,
    };
    const budget = {
      ...{ day_ends_at: '2026-02-01T00:00:00.000Z', requests: { used: 812, limit: 1000 }, units: null, slowed: true },
    };
    const unreached = { ...endpoint, endpoint: 1, state: 'open', head: null, failures: {}, last_error: null, budget };
    const body = [{ ...chain, endpoints: [endpoint, unreached] }];
    await using services = await startServices({ 'GET /chains': () => ({ status: 200, body }) });
    const { code, stdout } = await runOps(['chain', 'status'], services.env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^local +100 +100 +99 +60 +98 +0 +3 min +2026-01-31 12:00:00Z$/m);
    expect(stdout).toMatch(/^local +2026-01-31 12:00:00Z +7 +1 +2 +\+12\.3 s +-0\.0 s +yes +pod-1:42, the leader$/m);
    expect(stdout).toContain('local is halted: the nodes have another block 60');
    expect(stdout).toMatch(/^ +0 +closed +100 +0 +3 +9 +50 +timeout 2, rate_limit 1 +- +- +timeout: … \(12:00:00Z\)$/m);
    expect(stdout).toMatch(/^ +1 +open +-.* 812 of 1000 requests \(81 %\) until 00:00Z, slowed/m);
  });
});

describe('a scan that stands still', () => {
  test("shows its nodes' head beside its own, and why the last try failed", async () => {
    const standing = { halted_at: null, halt_reason: null, endpoint_head: 140, lag_blocks: 40 };
    const error = 'unknown_block: the node lacks block 101';
    const body = [{ ...chain, ...standing, scan_error: error, endpoints: [] }];
    await using services = await startServices({ 'GET /chains': () => ({ status: 200, body }) });
    const { stdout } = await runOps(['chain', 'status'], services.env);
    expect(stdout).toMatch(/^local +140 +100 +99 +60 +98 +40 +3 min +no$/m);
    expect(stdout).toContain(`local could not be read on at the last try: ${error}`);
  });
});

describe('chain rescan', () => {
  test.each([
    [['--from-block', '5'], { from_block: 5 }],
    [['--from-block', '5', '--to-block', '9'], { from_block: 5, to_block: 9 }],
    [['--since', '2026-01-31 12:00:00Z'], { since: '2026-01-31T12:00:00.000Z' }],
  ])('%j asks for it and does not wait', async (words, range) => {
    await using services = await startServices({
      'POST /chains/:network/rescans': () => ({ status: 201, body: rescan }),
    });
    const result = await runOps(['chain', 'rescan', 'local', ...words, ...why, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual(rescan);
    expect(services.calls).toEqual([
      { method: 'POST', path: '/chains/local/rescans', query: '', body: { ...author, ...range } },
    ]);
  });

  test.each([[[]], [['--from-block', '5', '--since', '2026-01-31T12:00:00Z']], [['--to-block', '9']]])(
    '%j does not say where to begin',
    async (words) => {
      await using services = await startServices({});
      const result = await runOps(['chain', 'rescan', 'local', ...words], services.env);
      expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/where to begin/) });
    },
  );

  test.each([
    ['done', done, { code: 0, stderr: '' }],
    ['failed', failed, { code: 1, stderr: 'no endpoint could read block 5\n' }],
  ])('with --wait ends when it is %s', async (_name, ended, expected) => {
    const rows = [[running], [running], [ended]];
    await using services = await startServices({
      'POST /chains/:network/rescans': () => ({ status: 201, body: rescan }),
      'GET /chains/:network/rescans': ({ nth }) => ({ status: 200, body: { rescans: rows[nth - 1] ?? [ended] } }),
    });
    const words = ['chain', 'rescan', 'local', '--from-block', '5', '--wait', '30', '--json'];
    const result = await runOps(words, services.env);
    expect(result).toMatchObject(expected);
    expect(JSON.parse(result.stdout)).toEqual(ended);
    expect(services.calls.map(({ method }) => method)).toEqual(['POST', 'GET', 'GET', 'GET']);
  });

  test('that takes longer than the wait goes on, and that is no success', async () => {
    await using services = await startServices({
      'POST /chains/:network/rescans': () => ({ status: 201, body: rescan }),
      'GET /chains/:network/rescans': () => ({ status: 200, body: { rescans: [running] } }),
    });
    const result = await runOps(['chain', 'rescan', 'local', '--from-block', '5', '--wait', '1'], services.env);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/goes on in the background/) });
  });
});

describe('chain rescans', () => {
  test('of one network, and of all of them', async () => {
    await using services = await startServices({
      'GET /chains': () => ({ status: 200, body: [{ network: 'local' }, { network: 'tron' }] }),
      'GET /chains/:network/rescans': ({ params }) => ({
        status: 200,
        body: {
          rescans: params['network'] === 'local' ? [done] : [{ ...running, requested_at: '2026-02-01T12:00:00.000Z' }],
        },
      }),
    });
    const one = await runOps(['chain', 'rescans', 'local', '--json'], services.env);
    expect(JSON.parse(one.stdout)).toEqual({ rescans: [done] });
    const { stdout } = await runOps(['chain', 'rescans'], services.env);
    const [, first, second] = stdout.split('\n');
    expect(first).toMatch(/^2026-02-01 .* 100 of 200 blocks \(50 %\) +0 +running/);
    expect(second).toMatch(/^2026-01-31 .* 200 of 200 blocks \(100 %\) +2 +done/);
  });
});

describe('chain jump', () => {
  const jump = {
    ...{ jump_id: 'j-1', network: 'local', state: 'waiting', to_block: null, ...author },
    ...{ left_from: null, left_through: null, wallets: null, error: null },
    ...{ requested_at: '2026-01-31T12:00:00.000Z', finished_at: null },
  };
  const gone = { ...jump, state: 'done', left_from: 101, left_through: 5_000, wallets: 3 };
  const refused = { ...jump, state: 'failed', error: 'block 7000 is not final yet: the last final block is 5000' };
  const answers = (ended: object) => ({
    'GET /chains': () => ({ status: 200, body: [{ ...chain, lag_blocks: 4_900, endpoints: [] }] }),
    'POST /chains/:network/jumps': () => ({ status: 201, body: jump }),
    'GET /chains/:network/jumps': ({ nth }: { nth: number }) => ({
      status: 200,
      body: { jumps: [nth < 2 ? jump : ended] },
    }),
  });

  test('is asked for when it is confirmed, and waits until it is done', async () => {
    await using services = await startServices(answers(gone));
    const asked = await runOps(['chain', 'jump', 'local', ...why], services.env);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/add --yes/) });
    expect(services.calls).toEqual([]);
    const { code, stdout, stderr } = await runOps(['chain', 'jump', 'local', '--yes', ...why], services.env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/left out +blocks 101 to 5000/);
    expect(stdout).toMatch(/read for +3 wallets/);
    expect(stderr).toMatch(/do not expire/);
    expect(services.calls[0]).toMatchObject({ path: '/chains/local/jumps', body: author });
  });

  test('to a block that is not final fails', async () => {
    await using services = await startServices(answers(refused));
    const result = await runOps(['chain', 'jump', 'local', '--to', '7000', '--json', ...why], services.env);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/not final yet/) });
    expect(services.calls[0]).toMatchObject({ method: 'POST', body: { ...author, to_block: 7_000 } });
  });
});

describe('chain resume', () => {
  const resumed = {
    ...{ network: 'local', accept_fork: false, ...author },
    ...{ halted_at: '2026-01-31T12:00:00.000Z', resumed_at: '2026-01-31T13:00:00.000Z' },
  };

  test('lets a network go on without a question', async () => {
    await using services = await startServices({
      'POST /chains/:network/resume': () => ({ status: 200, body: resumed }),
    });
    const result = await runOps(['chain', 'resume', 'local', ...why], services.env);
    expect(result).toMatchObject({ code: 0, stdout: expect.stringMatching(/fork +not accepted/) });
    expect(services.calls[0]).toMatchObject({ path: '/chains/local/resume', body: { ...author, accept_fork: false } });
  });

  test('accepts a fork only when it is confirmed', async () => {
    await using services = await startServices({
      'POST /chains/:network/resume': () => ({ status: 200, body: { ...resumed, accept_fork: true } }),
    });
    const words = ['chain', 'resume', 'local', '--accept-fork', ...why];
    const asked = await runOps(words, services.env);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/are retracted.*add --yes/) });
    expect(services.calls).toEqual([]);
    expect(await runOps([...words, '--yes'], services.env)).toMatchObject({ code: 0 });
    expect(services.calls[0]).toMatchObject({ body: { ...author, accept_fork: true } });
  });

  test('of one that is not halted is refused, and of an unknown one', async () => {
    await using services = await startServices({
      'POST /chains/:network/resume': ({ params }) =>
        params['network'] === 'local'
          ? { status: 409, body: { detail: 'local is not halted: there is nothing to resume' } }
          : { status: 404, body: { detail: 'Network not found' } },
    });
    expect(await runOps(['chain', 'resume', 'local'], services.env)).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(/not halted/) },
    });
    expect(await runOps(['chain', 'resume', 'nowhere'], services.env)).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(/Network not found/) },
    });
  });
});

test('chain audit says who did what to which network, and how to go on', async () => {
  const detail = { rescan_id: 'r-1', from_block: 5, to_block: null, state: 'done', found: 2 };
  const action = { at: '2026-01-31T12:00:00.000Z', network: 'local', action: 'accept_fork', ...author, detail };
  const actions = Array.from({ length: 100 }, () => action);
  await using services = await startServices({ 'GET /operator-actions': () => ({ status: 200, body: { actions } }) });
  const { stdout, stderr } = await runOps(['chain', 'audit', 'local', '--before', action.at], services.env);
  expect(stdout.split('\n')[1]).toMatch(
    /^2026-01-31 12:00:00Z +olga +local +accept fork +from block 5, state done, found 2 +the node was broken$/,
  );
  expect(stderr).toBe(`There may be older ones: chain audit local --before ${action.at}\n`);
  expect(services.calls[0]?.query).toBe('network=local&before=2026-01-31T12%3A00%3A00.000Z');
});
