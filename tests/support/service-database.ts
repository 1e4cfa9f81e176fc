import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import {
  addressOf,
  createDatabase,
  prepareSchema,
  serviceSchemas,
} from '@quittance/postgres/roles/service-databases.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

export type ServiceDatabase = {
  /** The superuser's URL. */
  adminUrl: string;
  /** URL for the service's role. */
  url: string;
};

/**
 * Another database on a server, with a service's own schema and role. The service's migrations run in it, so its tables, indexes and
 * partitions are those of production.
 * @param password of the role, which all databases of the server share. On a stack's server it must stay the stack's password.
 */
export async function serviceDatabase(options: {
  service: ServiceName;
  adminUrl: string;
  database: string;
  password: string;
}): Promise<ServiceDatabase> {
  const { service, database, password } = options;
  const { schema, role } = serviceSchemas[service];
  const adminUrl = addressOf(options.adminUrl, { database });
  const url = addressOf(adminUrl, { role, password });
  await createDatabase(options.adminUrl, database);
  await prepareSchema({ adminUrl, schema, role, password });
  const entry = join(repositoryRoot, 'packages', 'messaging', 'src', 'schema', 'migrate.ts');
  await promisify(execFile)(process.execPath, [entry, service], {
    cwd: repositoryRoot,
    env: { ...process.env, DATABASE_URL: url },
    timeout: 300_000,
  });
  return { adminUrl, url };
}
