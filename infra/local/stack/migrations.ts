import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot, StackError } from './directory.ts';

/** Brings every service's schema up to date, each by its own role and by the command a deployment uses too. */
export async function migrateAll(databaseUrls: Record<ServiceName, string>): Promise<void> {
  await Promise.all(serviceNames.map((name) => migrate(name, databaseUrls[name])));
}

async function migrate(name: ServiceName, databaseUrl: string): Promise<void> {
  const entry = join(repositoryRoot, 'packages', 'messaging', 'src', 'schema', 'migrate.ts');
  const env = { ...process.env, DATABASE_URL: databaseUrl };
  await promisify(execFile)(process.execPath, [entry, name], { cwd: repositoryRoot, env, timeout: 60_000 }).catch(
    (error: unknown) => {
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      throw new StackError(`migrating the schema of ${name} failed: ${message}\n${stdout}${stderr}`);
    },
  );
}
