import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { startShowReportsLoop } from '../src/operators/http.ts';
import { internal, testGateway, type TestGateway } from './gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await testGateway();
});
/** The row that the migration creates. */
beforeEach(async () => {
  await gateway.pool.query('delete from check_report');
  await gateway.pool.query('insert into check_report default values');
});
afterAll(() => gateway.close());

const rule = 'I1 status and transfer agree';
const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const seconds = (time: string): number => Date.parse(time) / 1000;
const outcome = { began_at: ago(3), ended_at: ago(2), whole: true, violations: [{ rule, count: 3 }] };

const report = (body: object, headers: Record<string, string> = internal) =>
  gateway.call('POST', '/internal/v1/check/report', { headers, body: { ...outcome, ...body } });

/** The metrics of a process: runs by outcome, broken rules by name. */
async function shown(): Promise<{ runs: Record<string, number>; broken: Record<string, number> }> {
  const metrics = createMetrics({ service: 'api-gateway', processMetrics: false });
  const loop = startShowReportsLoop({ db: gateway.pool, logger: testLogger, metrics });
  try {
    return await eventually(async () => {
      const now = await read(metrics);
      expect(now.runs).toHaveProperty('whole');
      return now;
    });
  } finally {
    await loop.close();
  }
}

async function read(metrics: ReturnType<typeof createMetrics>) {
  const samples = await samplesOf(metrics);
  const of = (name: string, label: string) =>
    Object.fromEntries(
      samples.filter((sample) => sample.name === name).map(({ labels, value }) => [String(labels[label]), value]),
    );
  return { runs: of('check_last_run_timestamp_seconds', 'outcome'), broken: of('check_violations', 'rule') };
}

describe('the outcome of a check', () => {
  test('is exported by every process: when it ended, and how often each rule is broken', async () => {
    const answer = await report({});
    expect([answer.status, answer.json()]).toEqual([200, { kept: true }]);
    const expected = { runs: { whole: seconds(outcome.ended_at) }, broken: { [rule]: 3 } };
    expect(await Promise.all([shown(), shown()])).toEqual([expected, expected]);
  });

  test('has the time of the installation before the first check', async () => {
    const { runs, broken } = await shown();
    expect(Math.abs(Date.now() / 1000 - runs['whole']!)).toBeLessThan(60);
    expect([Object.keys(runs), broken]).toEqual([['whole'], {}]);
  });

  test('is no longer exported by a process after a later check finds nothing', async () => {
    const metrics = createMetrics({ service: 'api-gateway', processMetrics: false });
    await report({});
    const loop = startShowReportsLoop({ db: gateway.pool, logger: testLogger, metrics });
    try {
      await eventually(async () => expect((await read(metrics)).broken).toEqual({ [rule]: 3 }));
      await report({ began_at: ago(1), ended_at: ago(1), violations: [] });
      await eventually(async () => {
        loop.wake();
        expect((await read(metrics)).broken).toEqual({});
      });
    } finally {
      await loop.close();
    }
  });

  test('does not count if the check did not finish, and keeps the one before', async () => {
    await report({});
    await report({ began_at: ago(1), ended_at: ago(0.5), whole: false, violations: [] });
    const { runs, broken } = await shown();
    expect([runs['whole'], broken]).toEqual([seconds(outcome.ended_at), { [rule]: 3 }]);
    expect(runs['incomplete']).toBeGreaterThan(runs['whole']!);
  });

  test('is only stored if no check that began later is stored, in any order', async () => {
    await report({ began_at: ago(1), ended_at: ago(1), violations: [] });
    expect((await report({})).json()).toEqual({ kept: false });
    expect((await shown()).broken).toEqual({});
    // The answer was lost, and the client retries.
    const again = { began_at: ago(0.5), ended_at: ago(0.5) };
    expect((await report(again)).json()).toEqual({ kept: true });
    expect((await report(again)).json()).toEqual({ kept: true });
  });

  test('is never in the future, even if the clock of the checking machine is', async () => {
    const ahead = ago(-3 * 24 * 60);
    await report({ began_at: ahead, ended_at: ahead });
    expect((await shown()).runs['whole']).toBeLessThan(Date.now() / 1000 + 60);
    expect((await report({ began_at: ago(0), ended_at: ago(0) })).json()).toMatchObject({ kept: expect.any(Boolean) });
    await report({ began_at: ago(-1), ended_at: ago(-1), violations: [] });
    expect((await shown()).broken).toEqual({});
  });

  test.each([
    [{ began_at: 'yesterday' }, 'began_at'],
    [{ violations: [{ rule: '', count: 1 }] }, 'violations'],
    [{ violations: [{ rule, count: 0 }] }, 'violations'],
    [{ violations: Array.from({ length: 101 }, () => ({ rule, count: 1 })) }, 'violations'],
  ])('is refused as %j', async (body, field) => {
    const answer = await report(body);
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(field)]);
  });

  test('is accepted from operators with the role support, but not from viewers and strangers', async () => {
    const as = async (name: string, role: string) => {
      const note = { actor: 'root', reason: 'joined us' };
      const made = await gateway.call('POST', '/internal/v1/operators', {
        headers: internal,
        body: { ...note, name, role },
      });
      const { credential } = made.json() as { credential: string };
      const issued = await gateway.call('POST', '/internal/v1/operator-tokens', { body: { credential } });
      return { 'x-operator-token': String(issued.json()['token']) };
    };
    expect((await report({}, await as('olga', 'support'))).status).toBe(200);
    expect((await report({}, await as('vera', 'viewer'))).status).toBe(403);
    expect((await report({}, {})).status).toBe(401);
  });
});

describe('a backup', () => {
  const script = readFileSync(new URL('../../../infra/docker/backup.sh', import.meta.url), 'utf8');
  const statement = /--command="(update gateway\.backup_report set \$1 = now\(\))"/.exec(script)![1]!;
  const record = (time: 'succeeded_at' | 'failed_at') =>
    gateway.pool.query(statement.replace('$1', time).replace('gateway.', ''));
  const backups = async (metrics: ReturnType<typeof createMetrics>) =>
    (await samplesOf(metrics)).filter(({ name }) => name === 'backup_last_run_timestamp_seconds');

  test('is exported as backup.sh records it, and as nothing before', async () => {
    const metrics = createMetrics({ service: 'api-gateway', processMetrics: false });
    const loop = startShowReportsLoop({ db: gateway.pool, logger: testLogger, metrics });
    const shownAs = (outcomes: string[]) =>
      eventually(async () => {
        loop.wake();
        const samples = await backups(metrics);
        expect(samples.map(({ labels }) => labels['outcome'])).toEqual(outcomes);
        return samples.map(({ value }) => value);
      });
    try {
      await eventually(async () => expect((await read(metrics)).runs).toHaveProperty('whole'));
      await shownAs([]);
      await record('failed_at');
      const [failed = 0] = await shownAs(['failed']);
      await record('succeeded_at');
      const [succeeded = 0] = await shownAs(['succeeded', 'failed']);
      expect(succeeded).toBeGreaterThan(failed);
      await gateway.pool.query('update backup_report set succeeded_at = null, failed_at = null');
      await shownAs([]);
    } finally {
      await loop.close();
    }
  });
});
