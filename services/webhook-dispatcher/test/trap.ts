import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';

/** Listens where none of our code may ever connect. */
export type Trap = {
  port: number;
  /** Incoming connections. */
  hits(): number;
  close(): Promise<void>;
};

/**
 * Listens on every address of this machine, IPv4 and IPv6: loopback, unspecified and its own. On port 443, where a dispatcher dials;
 * if the process may not use that port, on another one, which the test's dialler uses.
 */
export async function startTrap(): Promise<Trap> {
  let hits = 0;
  const server = createServer((socket) => {
    hits += 1;
    socket.on('error', () => undefined).destroy();
  });
  await listen(server, 443).catch(() => listen(server, 0));
  return {
    port: (server.address() as AddressInfo).port,
    hits: () => hits,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port);
  await once(server, 'listening');
}
