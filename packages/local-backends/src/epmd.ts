import { once } from 'node:events';
import { connect } from 'node:net';

/** A name of an Erlang node, with or without its host, and the port where others are to reach it. */
type Registered = { name: string; port: number };

/**
 * Tells a port mapper (epmd) on 127.0.0.1 of nodes that it does not know, as these would themselves: each node of a cluster here has a
 * mapper of its own, which leads it to the others by whatever ports we say. So a proxy can lie on each way, and be cut.
 * Known for as long as the mapper runs.
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
    // The name lasts as long as the connection. It ends with the mapper, and holds up no end of ours.
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
  // The versions of the protocol that it speaks: 5 and 6.
  request.writeUInt16BE(6, 7);
  request.writeUInt16BE(5, 9);
  request.writeUInt16BE(alive.length, 11);
  alive.copy(request, 13);
  return request;
}
