import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { networksOf } from '@quittance/testkit/chain/samples.ts';
import { testDatabase } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { migrations, schema } from '../src/migrations.ts';
import { INTERNAL_TOKEN } from './watcher.ts';

// Nobody answers there: a network has a leader anyway.
const chain = {
  chainId: 31_337,
  rpcUrl: 'http://127.0.0.1:1',
  token: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  decimals: 6,
};

test('behind a pooler the lead of a network is held by a connection to the server itself', async () => {
  const database = await testDatabase({ schema, migrations });
  const directory = await mkdtemp(join(tmpdir(), 'pooled-'));
  const file = join(directory, 'networks.json');
  await writeFile(file, JSON.stringify(networksOf({ chain })));
  const watcher = await startServiceProcess(new URL('../src/main.ts', import.meta.url), {
    DATABASE_URL: `${database.url}?pgbouncer=true&application_name=pooled`,
    DATABASE_DIRECT_URL: `${database.url}?application_name=direct`,
    AMQP_URL: 'amqp://127.0.0.1:1',
    INTERNAL_TOKEN,
    NETWORKS_FILE: file,
  });
  try {
    const leaders = () =>
      withClient(database.adminUrl, async (admin) => {
        const { rows } = await admin.query<{ name: string }>(
          `select application_name as name from pg_locks join pg_stat_activity using (pid)
            where locktype = 'advisory' and datname = current_database()`,
        );
        return rows.map(({ name }) => name);
      });
    await eventually(async () => expect(await leaders()).toEqual(['direct']));
  } finally {
    await watcher.stop();
    await database.drop();
    await rm(directory, { recursive: true });
  }
});
