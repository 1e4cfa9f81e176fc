import { logLevels } from './logger.ts';
import { ConfigurationError, settings, type SettingsReader } from './settings.ts';

/** What every service is told, to be spread into its own configuration. `databasePoolMin` is the smallest pool it can work with. */
export const commonSettings = (read: SettingsReader, { databasePoolMin = 1 }: { databasePoolMin?: number } = {}) => ({
  host: read.text('HOST', { default: '0.0.0.0' }),
  port: read.integer('PORT', { min: 0, max: 65_535 }),
  databaseUrl: databaseUrl(read),
  databasePoolSize: read.integer('DATABASE_POOL_SIZE', { default: 10, min: databasePoolMin, max: 200 }),
  amqpUrl: read.url('AMQP_URL', { protocols: ['amqp:', 'amqps:'] }),
  internalToken: read.secret('INTERNAL_TOKEN', { minLength: 32 }),
});

/** Where another service is called. */
export const serviceUrl = (read: SettingsReader, name: string): string =>
  read.url(name, { protocols: ['http:', 'https:'] });

/** The migrations of any service need its database only. */
export const readMigrationConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => ({ databaseUrl: databaseUrl(read) }));

const databaseUrl = (read: SettingsReader): string =>
  read.url('DATABASE_URL', { protocols: ['postgres:', 'postgresql:'] });

/** What the frame of every process is told, beside what its own configuration reads. */
export const readFrameConfig = (env: NodeJS.ProcessEnv) =>
  settings(env, (read) => {
    const faultPoint = read.optionalText('FAULT_POINT');
    if (faultPoint !== null && read.optionalText('NODE_ENV') === 'production') {
      throw new ConfigurationError(['FAULT_POINT: must not be set in production']);
    }
    return { logLevel: read.oneOf('LOG_LEVEL', logLevels, { default: 'info' }), faultPoint };
  });
