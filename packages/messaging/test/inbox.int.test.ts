import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { deleteOldRows } from '../src/inbox.ts';
import { startWorld } from './world.ts';
import type { World } from './world.ts';

// More than any wait inside a test, so that the wait's own error is what a failure shows.
jest.setTimeout(60_000);

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

test('inbox rows older than a week are deleted, a bounded number at a time', async () => {
  await world.pool.query(`
    insert into inbox (handler, message_id, received_at)
    select 'old', gen_random_uuid(), now() - interval '8 days' from generate_series(1, 1500)
    union all select 'young', gen_random_uuid(), now() - interval '6 days'`);
  expect(await deleteOldRows(world.pool)).toBe(1000);
  expect(await deleteOldRows(world.pool)).toBe(500);
  const { rows } = await world.pool.query('select handler from inbox');
  expect(rows).toEqual([{ handler: 'young' }]);
});
