import { faultPoint } from '../src/fault-point.ts';
import { startService } from '../src/service.ts';
import { settings } from '../src/settings.ts';

/** A service for service.int.test.ts; MODE selects its behaviour. */
await startService({
  name: 'fixture',
  readConfig: (env) =>
    settings(env, (read) => ({
      mode: read.oneOf('MODE', ['run', 'stuck', 'start-fails', 'rejects', 'throws', 'fault']),
    })),
  start: async ({ config: { mode }, logger, lifecycle }) => {
    const keepAlive = setInterval(() => undefined, 60_000);
    lifecycle.onStop('first', () => {
      clearInterval(keepAlive);
      logger.info('closed first');
    });
    lifecycle.onStop('second', () => logger.info('closed second'));
    if (mode === 'stuck') {
      lifecycle.onStop('stuck', () => {
        logger.info('closing stuck');
        return new Promise(() => undefined);
      });
    }
    if (mode === 'start-fails') throw new Error('fixture failure');
    if (mode === 'rejects') void Promise.reject(new Error('fixture failure'));
    if (mode === 'throws') {
      setImmediate(() => {
        throw new Error('fixture failure');
      });
    }
    if (mode === 'fault') {
      logger.info('before the point');
      faultPoint('between');
      logger.info('after the point');
    }
    await Promise.resolve();
  },
});
