import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';

/** A port that nothing listens on right now. */
export async function freePort(): Promise<number> {
  const [port] = (await freePorts(1)) as [number];
  return port;
}

/** Ports that nothing listens on right now, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(0)));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map(close));
  return ports;
}

/**
 * Says plainly that a port is taken, before some program says it in its own way in a log.
 * @throws Error naming the port and what wanted it.
 */
export async function requireFreePort(port: number, purpose: string): Promise<void> {
  try {
    await close(await listen(port));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'is already in use by another program' : `cannot be used (${code})`;
    throw new Error(`Port ${port}, meant for ${purpose}, ${reason}. Free it, or choose other ports with PORT_BASE.`, {
      cause: error,
    });
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
