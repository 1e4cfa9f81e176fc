import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { StackError } from './directory.ts';

/** Above the ten minutes that a migration waits for a lock; building an index waits for whoever reads. */
const TIMEOUT_MS = 900_000;

/**
 * Brings every service's schema up to date, each by its own role and by the command a deployment uses too.
 * @param checkout whose migrations they are.
 */
export async function migrateAll(databaseUrls: Record<ServiceName, string>, checkout: string): Promise<void> {
  await Promise.all(serviceNames.map((name) => migrate(name, databaseUrls[name], checkout)));
}

async function migrate(name: ServiceName, databaseUrl: string, checkout: string): Promise<void> {
  const entry = join(checkout, 'packages', 'messaging', 'src', 'schema', 'migrate.ts');
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, [entry, name], { cwd: checkout, env, timeout: TIMEOUT_MS }).catch(
    (error: unknown) => {
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      throw new StackError(`migrating the schema of ${name} failed: ${message}\n${stdout}${stderr}`);
    },
  );
}
