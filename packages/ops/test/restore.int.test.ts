import { expect, test } from '@jest/globals';
import { runOps, startServices } from './world.ts';

const merchant = `mer_${'a'.repeat(32)}`;

test('restore finished asks first, and shows which keys moved on', async () => {
  const moved = [{ merchant_id: merchant, network: 'tron', from_index: 20, to_index: 1020 }];
  await using services = await startServices({ 'POST /restores/finished': () => ({ status: 200, body: { moved } }) });
  const words = ['restore', 'finished', '--reason', 'the disk was lost'];
  expect(await runOps(words, services.env)).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
  expect(services.calls).toEqual([]);
  const done = await runOps([...words, '--yes'], services.env);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(new RegExp(`${merchant} +tron +20 +1020`)) });
  expect(services.calls).toEqual([
    { method: 'POST', path: '/restores/finished', query: '', body: { actor: 'olga', reason: 'the disk was lost' } },
  ]);
});
