import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  addressOf,
  createDatabase,
  prepareSchema,
  serviceSchemas,
} from '@quittance/local-stack/backends/service-databases.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

export type PaymentsDatabase = {
  /** The superuser's address. */
  adminUrl: string;
  /** Of the role that payments has. */
  url: string;
};

/**
 * Another database on a server, with payments' own schema and role: brought up to date by the service's own migrations, so its
 * tables, indexes and partitions are those of production.
 * @param password of the role, which all databases of the server share: a server with a stack must go on with the stack's.
 */
export async function paymentsDatabase(options: {
  adminUrl: string;
  database: string;
  password: string;
}): Promise<PaymentsDatabase> {
  const { database, password } = options;
  const { schema, role } = serviceSchemas.payments;
  const adminUrl = addressOf(options.adminUrl, { database });
  const url = addressOf(adminUrl, { role, password });
  await createDatabase(options.adminUrl, database);
  await prepareSchema({ adminUrl, schema, role, password });
  const entry = join(repositoryRoot, 'services', 'payments', 'src', 'migrate.ts');
  await promisify(execFile)(process.execPath, [entry], {
    cwd: repositoryRoot,
    env: { ...process.env, DATABASE_URL: url },
    timeout: 60_000,
  });
  return { adminUrl, url };
}
