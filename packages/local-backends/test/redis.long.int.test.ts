import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePort } from '../src/ports.ts';
import { startRedis, type Redis, type RedisOptions } from '../src/redis.ts';
import { temporaryDirectory, toolsDirectory } from './support.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let options: RedisOptions;
let redis: Redis;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const { path } = directory;
  const port = await freePort();
  options = { directory: join(path, 'redis'), toolsDirectory, port, logFile: join(path, 'redis.log') };
  redis = await startRedis(options);
});
afterAll(async () => {
  await redis.stop();
  await directory.remove();
});

async function answer(command: string): Promise<string> {
  const socket = connect({ port: options.port, host: '127.0.0.1' });
  socket.write(`${command}\r\n`);
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return data.toString().trim();
}

test('what Redis has acknowledged is still there after a kill', async () => {
  expect(await answer('SET job waiting')).toBe('+OK');
  await redis.kill();
  redis = await startRedis(options);
  expect(await answer('GET job')).toBe('$7\r\nwaiting');
});

test('no key is evicted', async () => {
  expect(await answer('CONFIG GET maxmemory-policy')).toContain('noeviction');
});

test('a port in use is named', async () => {
  await expect(startRedis({ ...options, directory: join(directory.path, 'other') })).rejects.toThrow(
    `Port ${options.port}, meant for Redis`,
  );
});
