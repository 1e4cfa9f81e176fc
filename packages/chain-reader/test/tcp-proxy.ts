import { createConnection, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy between a client and a node that forwards bytes until a test stops it. */
export type TcpProxy = {
  port: number;
  /** Connections accepted so far, and those that are open. */
  connections(): { taken: number; open: number };
  /** Bytes that clients have sent so far. */
  received(): number;
  /** From now on, open connections forward nothing and stay open. `later`: whether new ones do the same. */
  freeze(later?: boolean): void;
  /** Sends this to every client as one WebSocket message. */
  inject(text: string): void;
  /** Ends every connection after what was sent before. */
  cut(): void;
  close(): Promise<void>;
};

export async function tcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = Number(new URL(targetUrl).port);
  const clients = new Set<Socket>();
  const frozen = new WeakSet<Socket>();
  let [taken, received, freezesLater] = [0, 0, false];

  const server = createServer((client) => {
    const node = createConnection(target, '127.0.0.1');
    taken += 1;
    clients.add(client);
    if (freezesLater) frozen.add(client);
    client.on('data', (bytes: Buffer) => {
      received += bytes.length;
      if (!frozen.has(client)) node.write(bytes);
    });
    node.on('data', (bytes: Buffer) => {
      if (!frozen.has(client)) client.write(bytes);
    });
    for (const socket of [client, node]) socket.on('error', () => undefined);
    client.on('close', () => {
      clients.delete(client);
      node.destroy();
    });
    node.on('close', () => {
      if (!frozen.has(client)) client.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    port: (server.address() as AddressInfo).port,
    connections: () => ({ taken, open: clients.size }),
    received: () => received,
    freeze(later = false) {
      freezesLater = later;
      clients.forEach((client) => frozen.add(client));
    },
    inject: (text) => clients.forEach((client) => client.write(frame(text))),
    cut: () => clients.forEach((client) => client.end()),
    close() {
      clients.forEach((client) => client.destroy());
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** An unmasked, unfragmented text frame. Source: RFC 6455, 5.2. */
function frame(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(10);
  head.writeUInt8(0x81, 0);
  if (payload.length < 126) {
    head.writeUInt8(payload.length, 1);
    return Buffer.concat([head.subarray(0, 2), payload]);
  }
  head.writeUInt8(127, 1);
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}
