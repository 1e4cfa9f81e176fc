import { NOTIFIER } from '@quittance/contracts/service-name.ts';
import {
  notifierSchema,
  prepareSchema,
  prepareServiceDatabases,
  serviceSchemas,
} from '@quittance/postgres/roles/service-databases.ts';
import { required } from './environment.ts';

type ServiceName = keyof typeof serviceSchemas;
const serviceNames = Object.keys(serviceSchemas) as ServiceName[];

/**
 * Creates the database that POSTGRES_ADMIN_URL names, and each service's role and schema in it, if they are missing. Sets the roles'
 * passwords to `<SERVICE>_DATABASE_PASSWORD`, which is also how to change a password.
 * @throws Error naming what is missing, or PostgreSQL's own.
 */
export async function prepareDatabase(env: NodeJS.ProcessEnv): Promise<string> {
  const adminUrl = required(env, 'POSTGRES_ADMIN_URL');
  const database = decodeURIComponent(new URL(adminUrl).pathname.slice(1));
  if (database === '') throw new Error('POSTGRES_ADMIN_URL must name the database of the services');
  const passwords = Object.fromEntries(
    serviceNames.map((service) => [service, required(env, passwordName(service))]),
  ) as Record<ServiceName, string>;
  // The database may not exist yet; `postgres` exists on every server.
  const maintenance = new URL(adminUrl);
  maintenance.pathname = '/postgres';
  await prepareServiceDatabases({ adminUrl: maintenance.href, database, passwords });
  const password = env['NOTIFIER_DATABASE_PASSWORD'];
  if (password) await prepareSchema({ adminUrl, ...notifierSchema, password });
  const prepared = [...serviceNames, ...(password ? [NOTIFIER] : [])];
  return `database ${database} is ready for ${prepared.join(', ')}`;
}

/** For example API_GATEWAY_DATABASE_PASSWORD. */
const passwordName = (service: ServiceName): string =>
  `${service.toUpperCase().replaceAll('-', '_')}_DATABASE_PASSWORD`;
