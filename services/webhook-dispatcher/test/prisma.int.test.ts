import { test } from '@jest/globals';
import { testDatabase } from '@quittance/testkit/database.ts';
import { expectPrismaMatchesDatabase } from '@quittance/testkit/prisma-schema.ts';
import { migrations, schema } from '../src/migrations.ts';

test('schema.prisma describes the migrated database', async () => {
  const database = await testDatabase({ schema, migrations });
  try {
    const schemaFile = new URL('../prisma/schema.prisma', import.meta.url);
    await expectPrismaMatchesDatabase({ schemaFile, url: database.url, schema });
  } finally {
    await database.drop();
  }
});
