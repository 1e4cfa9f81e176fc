import { checkAmqpUrl } from './amqp-urls.ts';
import { logLevels } from './logger.ts';
import { ConfigurationError, settings, type SettingsReader } from './settings.ts';
import { trustSettings } from './trust.ts';

type PoolRule = { databasePoolMin?: number };

/**
 * The settings of a service with a database and without a broker. Spread them into its own configuration.
 * @param databasePoolMin the fewest connections that the service works with: one is for readiness and one for
 *   operators.
 */
export const settingsWithoutBroker = (read: SettingsReader, { databasePoolMin = 3 }: PoolRule = {}) => ({
  host: read.text('HOST', { default: '0.0.0.0' }),
  port: read.integer('PORT', { min: 0, max: 65_535 }),
  ...databaseUrls(read),
  databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: databasePoolMin, max: 200 }),
  trust: trustSettings(read),
});

/** The settings that every other service has, in the same way. */
export const commonSettings = (read: SettingsReader, rule: PoolRule = {}) => ({
  ...settingsWithoutBroker(read, rule),
  /** See parseAmqpUrls(). */
  amqpUrl: read.required('AMQP_URL', checkAmqpUrl),
});

/** The base URL of another service. */
export const serviceUrl = (read: SettingsReader, name: string): string =>
  read.url(name, { protocols: ['http:', 'https:'] });

/** Migrations need only the database, and a session of it. */
export const readMigrationConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({ databaseUrl: databaseUrls(read).directDatabaseUrl }));

/** `directDatabaseUrl` leads to the server itself, for what needs a session; `databaseUrl` may lead to a pooler. */
function databaseUrls(read: SettingsReader): { databaseUrl: string; directDatabaseUrl: string } {
  const protocols = ['postgres:', 'postgresql:'];
  const databaseUrl = read.url('DATABASE_URL', { protocols });
  const direct = URL.parse(read.url('DATABASE_DIRECT_URL', { protocols, default: '' }));
  if (direct === null && URL.parse(databaseUrl)?.searchParams.get('pgbouncer') === 'true')
    throw new ConfigurationError([
      'DATABASE_DIRECT_URL: is required when DATABASE_URL has pgbouncer=true: migrations and leaders need a session',
    ]);
  // So that the two may have the same parameters.
  direct?.searchParams.delete('pgbouncer');
  return { databaseUrl, directDatabaseUrl: direct?.href ?? databaseUrl };
}

/** The settings that `startService` and `runTask` read for every process, in addition to its own configuration. */
export const readFrameConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => {
    const faultPoint = read.optionalText('FAULT_POINT');
    if (faultPoint !== null && read.optionalText('NODE_ENV') === 'production') {
      throw new ConfigurationError(['FAULT_POINT: must not be set in production']);
    }
    return {
      logLevel: read.oneOf('LOG_LEVEL', logLevels, { default: 'info' }),
      faultPoint,
      tracing: tracingSettings(read),
    };
  });

/** `ratio` is the share of traces started in this process that are exported, from 0 to 1. */
export type TracingSettings = { endpoint: string; headers: Record<string, string>; ratio: number };

/** Uses OpenTelemetry's names. @returns null when tracing is off. */
function tracingSettings(read: SettingsReader): TracingSettings | null {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', { protocols: ['http:', 'https:'], default: '' });
  const headers = read.text('OTEL_EXPORTER_OTLP_HEADERS', { default: '', pattern: HEADER_LIST });
  const ratio = read.text('OTEL_TRACES_SAMPLER_ARG', { default: '0.01', pattern: /^(0(\.\d+)?|1(\.0+)?)$/ });
  return endpoint === '' ? null : { endpoint, headers: parseHeaders(headers), ratio: Number(ratio) };
}

/**
 * `name=value` pairs separated by commas. In a value, a comma and a percent sign must be percent-encoded; other
 * characters may be.
 */
const HEADER_LIST = /^[\w-]+=([ -$&-+\--~]|%[0-7][0-9A-Fa-f])*(,\s*[\w-]+=([ -$&-+\--~]|%[0-7][0-9A-Fa-f])*)*$/;

function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...value] = pair.split('=');
    return name === '' ? [] : [[name.trim(), decodeURIComponent(value.join('=')).trim()] as const];
  });
  return Object.fromEntries(pairs);
}
