import { once } from 'node:events';
import { connect } from 'node:net';

/** The name of an Erlang node, with or without its host, and the port where others can reach it. */
type Registered = { name: string; port: number };

/**
 * Registers nodes with a port mapper (epmd) on 127.0.0.1, as the nodes themselves would. Each node of a cluster here
 * has its own mapper, which leads it to the others through the ports given here. So a proxy can be put between any two
 * nodes, and be cut. The names are registered for as long as the mapper runs.
 * @throws Error when it refuses one.
 */
export async function registerNames(epmdPort: number, nodes: readonly Registered[]): Promise<void> {
  for (const node of nodes) {
    const socket = connect({ port: epmdPort, host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.write(aliveRequest(node));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    // ALIVE2_RESP or ALIVE2_X_RESP, and then 0 for success.
    if (![121, 118].includes(answer[0] ?? 0) || answer[1] !== 0) throw new Error(`epmd refused the name ${node.name}`);
    // The name lasts as long as the connection, which ends with the mapper and doesn't keep this process running.
    socket.on('error', () => undefined).unref();
  }
}

/** ALIVE2_REQ of Erlang's distribution protocol: a normal node, reached by IPv4. */
function aliveRequest({ name, port }: Registered): Buffer {
  const alive = Buffer.from(name.split('@')[0] ?? '');
  const request = Buffer.alloc(15 + alive.length);
  request.writeUInt16BE(13 + alive.length, 0);
  request.writeUInt8(120, 2);
  request.writeUInt16BE(port, 3);
  request.writeUInt8(77, 5);
  request.writeUInt8(0, 6);
  // The supported versions of the protocol: 5 and 6.
  request.writeUInt16BE(6, 7);
  request.writeUInt16BE(5, 9);
  request.writeUInt16BE(alive.length, 11);
  alive.copy(request, 13);
  return request;
}
