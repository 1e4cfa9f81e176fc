import { execFile } from 'node:child_process';
import { appendFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkPart, readManifests, readPart, type ArchivedPayment } from '../src/archive/part.ts';
import { startArchiveWorld, type ArchiveWorld, type Kill } from './archive-world.ts';
import { runOps } from './world.ts';

/** Three pages, and nine calls that remove. */
const MANY = 450;

let world: ArchiveWorld;
beforeAll(async () => {
  world = await startArchiveWorld();
});
afterAll(() => world.close());

/** The month that began at least 90 days ago, and after everything that the world holds. */
const month = new Date(Date.now() - 90 * 86_400_000).toISOString().slice(0, 7);
const archive = (folder: string, ...more: string[]) => ['archive', '--before', month, '--to', folder, '--yes', ...more];

/** What finished files have. */
async function filed(folder: string): Promise<ArchivedPayment[]> {
  const payments: ArchivedPayment[] = [];
  for (const manifest of await readManifests(folder)) {
    await checkPart(folder, manifest);
    for await (const payment of readPart(folder, manifest)) payments.push(payment);
  }
  return payments;
}

const idsOf = (payments: readonly { payment_id: string }[]) => payments.map(({ payment_id: id }) => id).sort();
const stored = async () => idsOf((await world.db.query<{ payment_id: string }>('select payment_id from payment')).rows);
const counted = async () => {
  const { rows } = await world.db.query<Record<string, string>>(
    `select sum(created) as created, sum(paid) as paid, sum(paid_units)::text as paid_units, sum(expired) as expired, sum(cancelled) as cancelled
       from archived_day`,
  );
  return rows[0];
};

test('payments go into files that can be searched, and out of the database with their days counted', async () => {
  const folder = await world.newFolder();
  const ids = await world.fill(30);
  const { rows } = await world.db.query<{ payment_id: string; description: string }>(
    `select payment_id, description from payment where status = 'PAID' order by 1 limit 1`,
  );
  const { code, stdout } = await runOps(archive(folder), world.env);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('payments-000001-') });
  expect(await stored()).toEqual([]);
  expect(idsOf(await filed(folder))).toEqual(ids);
  expect(await counted()).toEqual({ created: 30n, paid: 10n, paid_units: '165000000', expired: 10n, cancelled: 10n });

  const [manifest] = await readManifests(folder);
  const file = join(folder, manifest!.file);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const found = await promisify(execFile)('zgrep', [`"Order ${rows[0]!.description.split(' ')[1]}"`, file]);
  expect(JSON.parse(found.stdout)).toMatchObject({
    payment_id: rows[0]!.payment_id,
    record: { payment: { status: 'PAID' }, transfers: [{ payment_id: rows[0]!.payment_id, phase: 'confirmed' }] },
    deliveries: [{ status: 'delivered', body: JSON.stringify({ payment_id: rows[0]!.payment_id }) }],
  });
  const { rows: removals } = await world.db.query('select payments, actor from archive_removal');
  expect(removals).toEqual([{ payments: 30, actor: 'olga' }]);
});

test.each<Kill>([
  { call: 1, when: 'before' },
  // A file is half written.
  { call: 4, when: 'before' },
  // The files are whole, and nothing is removed.
  { call: 7, when: 'before' },
  { call: 7, when: 'after' },
  { call: 11, when: 'after' },
  // All is removed, and the manifest does not say so.
  { call: 15, when: 'after' },
])('a run that is killed loses nothing, and the next one completes it: killed $when call $call', async (at) => {
  const folder = await world.newFolder();
  const ids = await world.fill(MANY);
  expect(await world.runUntilKilled(archive(folder), at)).toBe('SIGKILL');
  const somewhere = new Set([...(await stored()), ...idsOf(await filed(folder))]);
  expect(ids.filter((id) => !somewhere.has(id))).toEqual([]);

  expect(await runOps(archive(folder), world.env)).toMatchObject({ code: 0 });
  expect(await stored()).toEqual([]);
  expect(idsOf(await filed(folder))).toEqual(ids);
  expect(await counted()).toMatchObject({ created: 450n, paid: 150n, expired: 150n, cancelled: 150n });
});

test('two runs into one folder at once lose nothing, and count nothing twice', async () => {
  const folder = await world.newFolder();
  const ids = await world.fill(MANY);
  // When the other one has removed everything, this one goes on with the page that it has.
  await world.runAround(archive(folder), () => runOps(archive(folder), world.env));
  expect(await runOps(archive(folder), world.env)).toMatchObject({ code: 0 });
  expect(await stored()).toEqual([]);
  expect([...new Set(idsOf(await filed(folder)))]).toEqual(ids);
  expect(await counted()).toMatchObject({ created: 450n, paid: 150n, expired: 150n, cancelled: 150n });
});

test('with --keep the files are written and nothing goes; a later run removes what has not changed since', async () => {
  const folder = await world.newFolder();
  const ids = await world.fill(60);
  expect(await runOps(archive(folder, '--keep'), world.env)).toMatchObject({ code: 0 });
  expect(idsOf(await filed(folder))).toEqual(ids);
  expect(await stored()).toEqual(ids);
  expect(await runOps(archive(folder, '--keep'), world.env)).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('is written, and its payments are not removed yet') },
  });

  await world.db.query(`update payment set description = 'Changed' where payment_id = any($1)`, [ids.slice(3, 5)]);
  const { stdout } = await runOps(archive(folder, '--json'), world.env);
  // The second part has those two as they are now.
  expect(JSON.parse(stdout)).toMatchObject([
    { payments: 60, removed: { payments: 58, kept: 2 } },
    { payments: 2, removed: { payments: 2, kept: 0 } },
  ]);
  expect(await stored()).toEqual([]);
});

test('nothing is removed because of a file that is not what was written', async () => {
  const folder = await world.newFolder();
  const ids = await world.fill(5);
  await runOps(archive(folder, '--keep'), world.env);
  const [manifest] = await readManifests(folder);
  await appendFile(join(folder, manifest!.file), 'x');
  expect(await runOps(archive(folder), world.env)).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('is not what was written: its SHA-256 differs') },
  });
  expect(await stored()).toEqual(ids);
});

test('a payment whose event still waits to be delivered stays', async () => {
  const folder = await world.newFolder();
  const ids = await world.fill(9);
  const { rows } = await world.webhooksDb.query<{ payment_id: string }>(
    `update delivery d set status = 'pending', delivered_at = null, next_attempt_at = now() from event e
      where e.event_id = d.event_id and e.payment_id = (select min(payment_id) from event) returning e.payment_id`,
  );
  await runOps(archive(folder), world.env);
  expect(await stored()).toEqual(idsOf(rows));
  expect(idsOf(await filed(folder))).toEqual(ids.filter((id) => id !== rows[0]!.payment_id));
});

test('a month that is not over for 90 days is refused, and a folder that is not there', async () => {
  const folder = await world.newFolder();
  const lately = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
  expect(await runOps(['archive', '--before', lately, '--to', folder, '--yes'], world.env)).toMatchObject({
    ...{ code: 1, stderr: expect.stringContaining('before must be a time at least 90 days ago') },
  });
  expect(await runOps(archive(join(folder, 'missing')), world.env)).toMatchObject({
    ...{ code: 2, stderr: expect.stringContaining('is no folder. Make it first.') },
  });
});
