import { expect, test } from '@jest/globals';
import { commonSettings, readMigrationConfig } from '../src/service-settings.ts';
import { settings } from '../src/settings.ts';

const read = (env: NodeJS.ProcessEnv) =>
  settings({ PORT: '1', AMQP_URL: 'amqp://b/', INTERNAL_TOKEN: 'x'.repeat(32), ...env }, (reader) =>
    commonSettings(reader),
  );
const DATABASE_URL = 'postgres://pooler:6432/quittance';
const DATABASE_DIRECT_URL = 'postgres://server:5432/quittance?sslmode=require&pgbouncer=true';

test('without a pooler everything uses DATABASE_URL', () => {
  expect(read({ DATABASE_URL })).toMatchObject({ databaseUrl: DATABASE_URL, directDatabaseUrl: DATABASE_URL });
  expect(readMigrationConfig({ DATABASE_URL })).toEqual({ databaseUrl: DATABASE_URL });
});

test('what needs a session uses DATABASE_DIRECT_URL, which has no pooler whatever its parameters say', () => {
  const direct = 'postgres://server:5432/quittance?sslmode=require';
  expect(read({ DATABASE_URL, DATABASE_DIRECT_URL })).toMatchObject({
    databaseUrl: DATABASE_URL,
    directDatabaseUrl: direct,
  });
  expect(readMigrationConfig({ DATABASE_URL, DATABASE_DIRECT_URL })).toEqual({ databaseUrl: direct });
});

test('a pooler without DATABASE_DIRECT_URL is refused', () => {
  const env = { DATABASE_URL: `${DATABASE_URL}?pgbouncer=true` };
  for (const reads of [read, readMigrationConfig])
    expect(() => reads(env)).toThrow('DATABASE_DIRECT_URL: is required when DATABASE_URL has pgbouncer=true');
});
