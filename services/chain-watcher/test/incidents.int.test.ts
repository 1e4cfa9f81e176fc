import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { transaction } from '@quittance/postgres/transaction.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { raiseIncident } from '../src/incidents/incident.sql.ts';
import { incidentsOf, type ShownIncident } from './second-reading.ts';
import type { RunningWatcher } from './watcher.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let watcher: RunningWatcher;

beforeAll(async () => {
  world = await startWorld();
  watcher = world.watch();
});
afterAll(() => world.close());
beforeEach(() => world.pool.query('delete from incident'));

const author = { actor: 'olga', reason: 'asked the provider' };
const transfer = { transaction_id: 'ab'.repeat(32), transaction_event_index: 3 };
const raise = (incident: Partial<Parameters<typeof raiseIncident>[1]> = {}) =>
  transaction(world.pool, (tx) =>
    raiseIncident(tx, { network: 'local', kind: 'endpoints_disagree', detail: transfer, ...incident }),
  );
const resolve = (id: string, by: object = author) =>
  watcher.call('POST', `/internal/v1/incidents/${id}/resolve`, by) as Promise<{ status: number; body: ShownIncident }>;
const list = async (query: string) => {
  const { body } = await watcher.call('GET', `/internal/v1/incidents?${query}`);
  return (body as { incidents: ShownIncident[] }).incidents;
};

describe('incidents', () => {
  test('are counted, for an alert, until someone resolves them', async () => {
    const open = async () => {
      const gauge = await watcher.metrics.registry.getSingleMetric('chain_open_incidents')!.get();
      return gauge.values.find(({ labels }) => labels['kind'] === 'endpoints_disagree')?.value;
    };
    await raise();
    await eventually(async () => expect(await open()).toBe(1));
    const [incident] = await incidentsOf(watcher);
    await resolve(incident!.incident_id);
    await eventually(async () => expect(await open()).toBe(0));
  });

  test('with the same cause are one while it is open, which counts how often the cause occurred', async () => {
    expect(await raise()).toBe(true);
    expect(await raise({ detail: { ...transfer, answers: ['orphaned'] } })).toBe(false);
    const [only, ...others] = await incidentsOf(watcher);
    expect(others).toEqual([]);
    expect(only).toEqual({
      incident_id: expect.any(String),
      kind: 'endpoints_disagree',
      network: 'local',
      detail: { ...transfer, answers: ['orphaned'] },
      opened_at: expect.stringMatching(/Z$/),
      times: 2,
      last_seen_at: expect.stringMatching(/Z$/),
      resolved_at: null,
      resolved_by: null,
      resolved_reason: null,
    });

    await resolve(only!.incident_id);
    expect(await raise()).toBe(true);
    expect(await incidentsOf(watcher)).toMatchObject([{ times: 1 }]);
    expect(await incidentsOf(watcher, 'all')).toHaveLength(2);
  });

  test('with another transfer, kind, cause or network are separate', async () => {
    await raise();
    expect(await raise({ detail: { ...transfer, transaction_event_index: 4 } })).toBe(true);
    expect(await raise({ kind: 'transfer_missed' })).toBe(true);
    expect(await raise({ cause: 'something else' })).toBe(true);
    expect(await raise({ network: 'ethereum' })).toBe(true);
    expect(await incidentsOf(watcher)).toHaveLength(5);
  });

  test('that several raise at once about one cause are one', async () => {
    const news = await Promise.all(Array.from({ length: 5 }, () => raise()));
    expect(news.filter((isNew) => isNew)).toHaveLength(1);
    expect(await incidentsOf(watcher)).toMatchObject([{ times: 5 }]);
  });

  test('stay resolved by the first operator, who is in the audit log', async () => {
    await raise();
    const [{ incident_id: id }] = (await incidentsOf(watcher)) as [ShownIncident];
    const first = await resolve(id);
    expect(first).toMatchObject({ status: 200, body: { resolved_by: 'olga', resolved_reason: author.reason } });
    expect(await resolve(id, { actor: 'dora', reason: 'another one' })).toEqual(first);
    expect(await incidentsOf(watcher)).toEqual([]);
    const { body } = await watcher.call('GET', '/internal/v1/operator-actions?network=local');
    expect(body).toEqual({
      actions: [
        {
          ...{ at: first.body.resolved_at, network: 'local', action: 'resolve_incident', ...author },
          detail: { incident_id: id, kind: 'endpoints_disagree' },
        },
      ],
    });
    expect((await watcher.call('GET', '/internal/v1/operator-actions?network=other')).body).toEqual({ actions: [] });
    const before = await watcher.call('GET', `/internal/v1/operator-actions?before=${first.body.resolved_at!}`);
    expect(before.body).toEqual({ actions: [] });
  });

  test('are listed newest first, a hundred at a time, none twice and none left out', async () => {
    await world.pool.query(
      `insert into incident (network, kind, cause, detail, opened_at, last_seen_at)
       select 'local', 'transfer_missed', n::text, '{}', now() + n / 10 * interval '1 second', now() from generate_series(1, 230) n`,
    );
    const pages = [await list('status=open')];
    while (pages.at(-1)!.length > 0) pages.push(await list(`before=${pages.at(-1)!.at(-1)!.incident_id}`));
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30, 0]);
    expect(new Set(pages.flat().map(({ incident_id }) => incident_id)).size).toBe(230);
  });

  test.each([
    ['incidents?status=closed', 'status'],
    ['incidents?before=yesterday', 'before'],
    ['operator-actions?before=yesterday', 'before'],
  ])('%s is refused and named', async (path, field) => {
    const answer = await watcher.call('GET', `/internal/v1/${path}`);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ field }] } });
  });

  test('that do not exist cannot be resolved, nor without an actor and a reason', async () => {
    for (const id of [randomUUID(), 'yesterday'])
      expect(await resolve(id)).toMatchObject({ status: 404, body: { detail: 'Incident not found' } });
    await raise();
    const [{ incident_id: id }] = (await incidentsOf(watcher)) as [ShownIncident];
    expect(await resolve(id, { actor: 'olga' })).toMatchObject({
      status: 422,
      body: { detail: [{ field: 'reason' }] },
    });
    expect(await incidentsOf(watcher)).toHaveLength(1);
  });
});
