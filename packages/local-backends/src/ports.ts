import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * The range of free ports. It is below the ports for outgoing connections (from 32768 on Linux, from 49152 elsewhere),
 * because one of those could take a port before its program does. It is above the ports of stacks, which begin at 8080,
 * and below those of the tests' stacks, which begin at 20000. It is also above 10080, which fetch refuses.
 */
const FIRST = 10_100;
const COUNT = 9_000;
/** A machine with so many ports in use has other problems. */
const MOST_ATTEMPTS = 1_000;
/** A killed program releases its ports when its last thread has ended, which is later than its process. */
const PATIENCE_MS = 2_000;

/** A port that nothing listens on right now. */
export async function freePort(): Promise<number> {
  const [port] = (await freePorts(1)) as [number];
  return port;
}

/** Ports that nothing listens on right now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const found = new Map<number, Server>();
  for (let attempt = 0; found.size < count && attempt < MOST_ATTEMPTS; attempt += 1) {
    const port = FIRST + randomInt(COUNT);
    const server = found.has(port) ? null : await listen(port).catch(() => null);
    if (server !== null) found.set(port, server);
  }
  await Promise.all([...found.values()].map(close));
  if (found.size < count) throw new Error(`found ${found.size} of ${count} free ports`);
  return [...found.keys()];
}

/**
 * Reports clearly that a port is in use, before a program reports it in its own way in a log.
 * @throws Error naming the port and what needs it, when it has been in use for two seconds.
 */
export async function requireFreePort(port: number, purpose: string): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  try {
    await close(await listenBefore(deadline, port));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'is already in use by another program' : `cannot be used (${code})`;
    throw new Error(`Port ${port}, meant for ${purpose}, ${reason}. Free it, or choose other ports with PORT_BASE.`, {
      cause: error,
    });
  }
}

async function listenBefore(deadline: number, port: number): Promise<Server> {
  for (;;) {
    try {
      return await listen(port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || performance.now() > deadline) throw error;
      await delay(50);
    }
  }
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
