import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild } from './child.ts';
import { libraryPath, unpackDebianPackages } from './debian-packages.ts';
import { placesOnPath } from './on-path.ts';
import { requireFreePort } from './ports.ts';
import type { Backend } from './child.ts';

export type Redis = Backend & { url: string };

export type RedisOptions = {
  /** Gets Redis's files. Created if missing, else its data is used. */
  directory: string;
  toolsDirectory: string;
  port: number;
  logFile: string;
};

const READY_WITHIN_MS = 15_000;

/**
 * A private Redis on 127.0.0.1, with the settings that BullMQ recommends for production: every change is appended to a
 * file, which is flushed every second, and no key is evicted. It is the machine's program, else Debian's package
 * unpacked below `toolsDirectory`. No service uses it: benchmarks compare us with a queue that needs it.
 * @throws Error naming a port in use, a missing program, or Redis's own error.
 */
export async function startRedis({ directory, toolsDirectory, port, logFile }: RedisOptions): Promise<Redis> {
  const { command, env } = await redisProgram(toolsDirectory);
  await mkdir(directory, { recursive: true });
  await requireFreePort(port, 'Redis');
  const settings = {
    ...{ bind: '127.0.0.1', port: String(port), dir: directory },
    ...{ appendonly: 'yes', appendfsync: 'everysec', 'maxmemory-policy': 'noeviction' },
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = await startChild({ name: 'Redis', command, args, env, logFile, cwd: directory });
  const refusal = await Promise.race([child.exited, untilReady(port)]);
  if (refusal !== null) {
    await child.stop();
    throw new Error(`${refusal} before it was ready:\n${child.lastWords()}`);
  }
  return {
    ...{ url: `redis://127.0.0.1:${port}`, pid: child.pid, exited: child.exited },
    ...{ stop: child.stop, kill: child.kill },
  };
}

async function redisProgram(toolsDirectory: string): Promise<{ command: string; env: NodeJS.ProcessEnv }> {
  const installed = placesOnPath('redis-server').find((file) => existsSync(file));
  if (installed !== undefined) return { command: installed, env: process.env };
  // The program itself is in the package of the tools.
  const packages = ['redis-server', 'redis-tools'];
  const root = await unpackDebianPackages(toolsDirectory, { name: 'redis-server', packages });
  const env = { ...process.env, LD_LIBRARY_PATH: await libraryPath(root) };
  return { command: join(root, 'usr/bin/redis-server'), env };
}

/** While it reads its file, Redis answers that it is loading. */
async function untilReady(port: number): Promise<null | string> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (performance.now() < deadline) {
    if ((await answerTo('PING', port)) === '+PONG') return null;
    await delay(20);
  }
  return 'Redis did not answer within 15 seconds and was stopped';
}

/** @returns the first line of the answer; empty without one. */
function answerTo(command: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => socket.write(`${command}\r\n`));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (data) => {
      resolve(data.toString().split('\r\n')[0] ?? '');
      socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(''));
  });
}
