import { isIP } from 'node:net';
import { connect } from 'amqplib';
import { withClient } from '@quittance/postgres/roles/service-databases.ts';
import { readSettings } from '@quittance/postgres/session.ts';

/** What a line of --backends asks for: values of .env, the bundled backend that it replaces, and how to try it. */
export type GivenBackend = {
  kind: 'postgres' | 'rabbitmq';
  values: Record<string, string>;
  /** @throws Error saying, without a password, why it cannot work. */
  check: () => Promise<void>;
};

const CONNECT_LIMIT_MS = 10_000;

/**
 * Reads `postgres <URL> [pooler=host:port]` or `rabbitmq <URL> [management=<URL>]`, with the URL of an administrator.
 * @throws Error saying what is wrong, without a password.
 */
export function parseBackendLine(line: string): GivenBackend {
  const [kind = '', address = '', ...words] = line.trim().split(/\s+/);
  if (kind === 'postgres') return postgres(address, wordNamed('pooler', kind, words));
  if (kind === 'rabbitmq') return rabbitmq(address, wordNamed('management', kind, words));
  throw new Error(`a line of --backends begins with postgres or rabbitmq, not "${kind}"`);
}

function wordNamed(name: string, kind: string, words: readonly string[]): string | undefined {
  const other = words.find((word) => !word.startsWith(`${name}=`));
  if (other !== undefined || words.length > 1) throw new Error(`${kind}: after the URL comes only ${name}=…`);
  return words[0]?.slice(name.length + 1);
}

function postgres(text: string, pooler: string | undefined): GivenBackend {
  const url = administrator('postgres', text, ['postgres:', 'postgresql:']);
  if (url.pathname !== '/quittance')
    throw new Error('postgres: the URL must end with the name of the database, which is /quittance');
  if (pooler !== undefined && !/^[\w.-]+:\d{1,5}$/.test(pooler)) throw new Error('postgres: pooler=host:port');
  const server = `${url.hostname}:${url.port || '5432'}`;
  const options = pooler === undefined ? url.search : `${url.search || '?'}${url.search && '&'}pgbouncer=true`;
  return {
    kind: 'postgres',
    values: {
      POSTGRES_ADMIN_URL: text,
      POSTGRES_ADDRESS: pooler ?? server,
      POSTGRES_DIRECT_ADDRESS: pooler === undefined ? '' : server,
      POSTGRES_OPTIONS: options,
    },
    check: () => checkPostgres(url),
  };
}

function rabbitmq(text: string, management: string | undefined): GivenBackend {
  const url = administrator('rabbitmq', text, ['amqp:', 'amqps:']);
  if (management === undefined)
    return {
      kind: 'rabbitmq',
      values: {
        AMQP_URL: text,
        ...{ RABBITMQ_ADDRESS: '', RABBITMQ_SCHEME: '', RABBITMQ_ADMIN_URL: '', RABBITMQ_MANAGEMENT_URL: '' },
      },
      check: () => checkRabbitmq(url),
    };
  const api = administrator('rabbitmq: management', management, ['http:', 'https:']);
  return {
    kind: 'rabbitmq',
    values: {
      AMQP_URL: '',
      RABBITMQ_ADDRESS: url.host + url.pathname,
      RABBITMQ_SCHEME: url.protocol.slice(0, -1),
      RABBITMQ_ADMIN_URL: text,
      RABBITMQ_MANAGEMENT_URL: management,
    },
    check: async () => {
      await checkRabbitmq(url);
      await checkManagement(api);
    },
  };
}

/** @throws Error for a URL that no container could use. */
function administrator(what: string, text: string, protocols: readonly string[]): URL {
  const url = URL.parse(text);
  if (url === null || !protocols.includes(url.protocol))
    throw new Error(`${what}: the URL must begin with ${protocols.map((one) => `${one}//`).join(' or ')}`);
  if (url.username === '' || url.password === '')
    throw new Error(`${what}: the URL needs a user and a password, as in ${url.protocol}//user:password@host`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || (isIP(host) !== 0 && /^(?:127\.|::1$)/.test(host)))
    throw new Error(
      `${what}: in a container ${host} is the container itself; give an address that leads to the server`,
    );
  return url;
}

type Rights = {
  user: string;
  makes_roles: boolean;
  makes_databases: boolean;
  owns: boolean | null;
  read_only: boolean;
};

/** Has what packages/postgres/src/roles/service.sql needs. */
async function checkPostgres(url: URL): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const { user, ...rights } = await reached('postgres', url, () =>
    withClient(maintenance.href, async (db) => {
      await readSettings(db, []);
      const { rows } = await db.query<Rights>(
        `select current_user as user, rolsuper or rolcreaterole as makes_roles, rolsuper or rolcreatedb as makes_databases,
                (select pg_has_role(datdba, 'usage') from pg_database where datname = 'quittance') as owns,
                pg_is_in_recovery() as read_only
           from pg_roles where rolname = current_user`,
      );
      if (rows[0] === undefined) throw new Error('pg_roles does not show the role itself');
      return rows[0];
    }),
  );
  if (rights.read_only) throw new Error(`postgres: ${url.host} is a standby, which takes no changes`);
  if (!rights.makes_roles) throw new Error(`postgres: ${user} may not make roles: alter role ${user} createrole`);
  if (rights.owns === null && !rights.makes_databases)
    throw new Error(
      `postgres: there is no database quittance, and ${user} may not make it: create it, owned by ${user}`,
    );
  if (rights.owns === false) throw new Error(`postgres: ${user} does not own the database quittance`);
}

async function checkRabbitmq(url: URL): Promise<void> {
  await reached('rabbitmq', url, async () => {
    const connection = await connect(url.href, { timeout: CONNECT_LIMIT_MS });
    await connection.close();
  });
}

async function checkManagement(url: URL): Promise<void> {
  const address = new URL('api/whoami', `${url.origin}${url.pathname.replace(/\/?$/, '/')}`);
  const login = Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`);
  const answer = await reached('rabbitmq: management', url, () =>
    fetch(address, {
      headers: { authorization: `Basic ${login.toString('base64')}` },
      signal: AbortSignal.timeout(CONNECT_LIMIT_MS),
    }),
  );
  if (!answer.ok) throw new Error(`rabbitmq: management: ${url.host} answers ${String(answer.status)}`);
  const { tags } = (await answer.json()) as { tags: string | string[] };
  if (!tags.includes('administrator'))
    throw new Error(
      `rabbitmq: management: ${decodeURIComponent(url.username)} is no administrator, so it can make no users`,
    );
}

/** @throws Error with the reason that the system or the server gives. */
async function reached<T>(what: string, { host }: URL, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    const { message, code, cause } = error as Error & { code?: string };
    // Several addresses of one name have an error each, and then no message together.
    const reason = message || code || String(error);
    throw new Error(`${what}: ${host} cannot be used: ${cause instanceof Error ? cause.message || reason : reason}`);
  });
}
