import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { processEnvironment } from '@quittance/testkit/service-process.ts';
import { internalToken, startWorld } from '../../../services/webhook-dispatcher/test/world.ts';
import type { World } from '../../../services/webhook-dispatcher/test/world.ts';
import { runOps, startServices } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const env = () => ({ WEBHOOK_DISPATCHER_URL: world.dispatcher().url, INTERNAL_TOKEN: internalToken, USER: 'olga' });

/** A merchant with so many events that have used up their attempts, held so that nothing is sent again meanwhile. */
async function merchantWithFailed(many: number): Promise<string> {
  const merchantId = newId('mer');
  await world.pool.query(`insert into lane (merchant_id, held) values ($1, true)`, [merchantId]);
  await world.pool.query(
    `with stored as (
       insert into event (event_id, payment_id, merchant_id, body)
       select id, 'pay_' || right(id, 32), $1, '{}' from unnest($2::text[]) id
       returning event_id
     )
     insert into delivery (event_id, merchant_id, status, attempts, error_category)
     select event_id, $1, 'failed', 9, 'http_5xx' from stored`,
    [merchantId, Array.from({ length: many }, () => newId('evt'))],
  );
  return merchantId;
}

/** How often events were retried, and how many audit rows record it. */
async function begun(merchantId: string) {
  const { rows } = await world.pool.query<{ cycles: number; pending: number; audited: number; events: number }>(
    `select sum(cycle - 1)::int as cycles, count(*) filter (where status = 'pending')::int as pending,
            (select count(*)::int from audit where merchant_id = $1 and actor = 'olga' and action = 'event_recovered') as audited,
            (select count(distinct event_id)::int from audit where merchant_id = $1) as events
       from delivery where merchant_id = $1`,
    [merchantId],
  );
  return rows[0]!;
}

/** Lets a few retries be audited, and holds up all others. @returns lets them go on as well. */
async function holdUpRetries(): Promise<() => Promise<void>> {
  const holder = await world.pool.connect();
  await holder.query('select pg_advisory_lock(1)');
  await holder.query(`
    create sequence retries;
    create function hold_up() returns trigger language plpgsql as $$
      begin if nextval('retries') > 100 then perform pg_advisory_xact_lock(1); end if; return new; end $$;
    create trigger hold_up before insert on audit for each row execute function hold_up()`);
  return async () => {
    await holder.query('select pg_advisory_unlock(1)');
    holder.release();
    await world.pool.query('drop trigger hold_up on audit');
  };
}

test('a retry of all that failed may be killed on the way: what it began is audited, and repeating it does the rest', async () => {
  const merchantId = await merchantWithFailed(600);
  // However fast it is, and however slow the test: it is killed before it is done.
  const letGo = await holdUpRetries();
  const words = ['webhook', 'retry', '--all-failed', '--merchant', merchantId, '--reason', 'receiver is back', '--yes'];
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, ...words], {
    env: { ...processEnvironment(), ...env() },
    stdio: 'ignore',
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  await eventually(async () => expect((await begun(merchantId)).audited).toBeGreaterThan(0));
  child.kill('SIGKILL');
  await ended;
  await letGo();
  // Calls that had arrived may still be carried out: until the dispatcher has no transaction open.
  await eventually(async () => {
    const { rowCount } = await world.pool.query(
      `select from pg_stat_activity
        where application_name like 'webhook-dispatcher%' and datname = current_database() and state <> 'idle'`,
    );
    expect(rowCount).toBe(0);
  });
  const half = await begun(merchantId);
  expect(half.audited).toBeLessThan(600);
  expect(half).toEqual({ cycles: half.audited, pending: half.audited, audited: half.audited, events: half.audited });

  const { code, stderr } = await runOps([...words, '--json'], env());
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await begun(merchantId)).toEqual({ cycles: 600, pending: 600, audited: 600, events: 600 });
});

test('of two operators who retry the same events each event is begun once, and the second operator sees it', async () => {
  const merchantId = await merchantWithFailed(60);
  const { rows } = await world.pool.query<{ event_id: string }>(
    `select event_id from delivery where merchant_id = $1 order by event_id`,
    [merchantId],
  );
  const words = ['webhook', 'retry', ...rows.map(({ event_id }) => event_id), '--json'];
  const results = await Promise.all([runOps(words, env()), runOps(words, env())]);
  const outcomes = results.flatMap(({ stdout }) => (JSON.parse(stdout) as { events: { outcome: string }[] }).events);
  expect(outcomes.filter(({ outcome }) => outcome === 'retried')).toHaveLength(60);
  expect(outcomes.filter(({ outcome }) => outcome === 'refused')).toHaveLength(60);
  expect(await begun(merchantId)).toEqual({ cycles: 60, pending: 60, audited: 60, events: 60 });
});

test('once the dispatcher stops answering, the rest is not tried', async () => {
  const ids = Array.from({ length: 40 }, () => newId('evt'));
  await using services = await startServices({
    'POST /events/:id/recover': ({ nth, params }) =>
      nth <= 10
        ? { status: 202, body: { event_id: params['id'], payment_id: newId('pay'), status: 'pending', attempts: 0 } }
        : { status: 503, body: { detail: 'Service temporarily unavailable' } },
  });
  const result = await runOps(['webhook', 'retry', ...ids, '--json'], services.env);
  expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/^30 of 40 events were not retried: /) });
  const { events } = JSON.parse(result.stdout) as { events: { event_id: string; outcome: string }[] };
  expect(events.map(({ event_id }) => event_id)).toEqual(ids);
  const count = (wanted: string) => events.filter(({ outcome }) => outcome === wanted).length;
  // Eight at a time: the second eight were answered in part, so the third was still tried.
  expect(['retried', 'unanswered', 'not_tried'].map(count)).toEqual([10, 14, 16]);
});
