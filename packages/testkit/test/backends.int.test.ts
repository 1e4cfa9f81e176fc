import { expect, test } from '@jest/globals';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { testBroker } from '../src/broker.ts';
import { testDatabase } from '../src/database.ts';

test('a test database belongs to a role that can touch nothing but its own schema', async () => {
  const mine = await testDatabase({ schema: 'quota', migrations: [] });
  const other = await testDatabase({ schema: 'payments', migrations: [] });
  try {
    await withClient(mine.url, async (client) => {
      await client.query('create table note (id int)');
      const { rows } = await client.query<{ schema: string }>('select current_schema() as schema');
      expect(rows).toEqual([{ schema: 'quota' }]);
      await expect(client.query('create table public.note (id int)')).rejects.toThrow('permission denied');
      await expect(client.query('create schema another')).rejects.toThrow('permission denied');
      await expect(client.query('create role another')).rejects.toThrow('permission denied');
    });
    const trespass = new URL(mine.url);
    trespass.pathname = new URL(other.url).pathname;
    await expect(withClient(trespass.href, async () => undefined)).rejects.toThrow('permission denied for database');
  } finally {
    await mine.drop();
    await other.drop();
  }
});

test('each test broker is a virtual host of its own', async () => {
  const one = await testBroker();
  const two = await testBroker();
  try {
    expect(new URL(one.url).pathname).not.toBe(new URL(two.url).pathname);
    await one.manage('PUT', `/api/queues/${one.vhost}/letters`, {
      durable: true,
      arguments: { 'x-queue-type': 'quorum' },
    });
    expect(await one.manage('GET', `/api/queues/${two.vhost}`)).toEqual([]);
  } finally {
    await one.close();
    await two.close();
  }
});
