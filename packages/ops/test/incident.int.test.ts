import { describe, expect, jest, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
jest.setTimeout(60_000);

const id = '5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a';
const open = {
  incident_id: id,
  kind: 'paid_transfer_gone',
  payment_id: `pay_${'b'.repeat(32)}`,
  merchant_id: `mer_${'a'.repeat(32)}`,
  network: 'local',
  transaction_id: 'c'.repeat(64),
  transaction_event_index: 3,
  block_hash: `0x${'d'.repeat(64)}`,
  opened_at: '2026-01-31T12:00:00.000Z',
  resolved_at: null,
  resolved_by: null,
  resolved_reason: null,
};
const resolved = { ...open, resolved_at: '2026-01-31T13:00:00.000Z', resolved_by: 'olga', resolved_reason: 'repaid' };

describe('incident list', () => {
  test.each([
    [[], 'status=open'],
    [['--all'], 'status=all'],
    [['--before', id], `status=open&before=${id}`],
  ])('%j asks for %s', async (words, query) => {
    await using services = await startServices({
      'GET /incidents': () => ({ status: 200, body: { incidents: [open] } }),
    });
    const result = await runOps(['incident', 'list', ...words, '--json'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(result.stdout)).toEqual({ incidents: [open] });
    expect(services.calls).toEqual([{ method: 'GET', path: '/incidents', query, body: null }]);
  });

  test.each([
    [99, ''],
    [100, `There may be older ones: incident list --all --before ${id}\n`],
  ])('of %s says how to go on, to a person only', async (many, hint) => {
    const incidents = Array.from({ length: many }, () => open);
    await using services = await startServices({ 'GET /incidents': () => ({ status: 200, body: { incidents } }) });
    expect((await runOps(['incident', 'list', '--all'], services.env)).stderr).toBe(hint);
    expect((await runOps(['incident', 'list', '--all', '--json'], services.env)).stderr).toBe('');
  });

  test('is a table for people', async () => {
    const incidents = [open, resolved];
    await using services = await startServices({ 'GET /incidents': () => ({ status: 200, body: { incidents } }) });
    const { stdout } = await runOps(['incident', 'list', '--all'], services.env);
    const [, first, second] = stdout.split('\n');
    expect(first).toContain(`${id}  paid_transfer_gone`);
    expect(first).toContain(open.payment_id);
    expect(second).toMatch(/2026-01-31 13:00:00Z +olga$/);
  });
});

describe('incident resolve', () => {
  test('says who and why', async () => {
    await using services = await startServices({
      'POST /incidents/:id/resolve': () => ({ status: 200, body: resolved }),
    });
    const result = await runOps(['incident', 'resolve', id, '--reason', 'repaid'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/who +olga\nwhy +repaid\n/);
    expect(services.calls).toEqual([
      { method: 'POST', path: `/incidents/${id}/resolve`, query: '', body: { actor: 'olga', reason: 'repaid' } },
    ]);
  });

  test('of one that does not exist is refused', async () => {
    await using services = await startServices({
      'POST /incidents/:id/resolve': () => ({ status: 404, body: { detail: 'Incident not found' } }),
    });
    const result = await runOps(['incident', 'resolve', id], services.env);
    expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/Incident not found/) });
  });

  test('of what is no incident id is wrong use', async () => {
    await using services = await startServices({});
    expect(await runOps(['incident', 'resolve', 'yesterday'], services.env)).toMatchObject({ code: 2, stdout: '' });
    expect(services.calls).toEqual([]);
  });
});
