import { connect, type Socket } from 'node:net';

import { createLifecycle, type Lifecycle } from '@quittance/runtime/lifecycle.ts';
import { createMetrics, type Metrics } from '@quittance/runtime/metrics.ts';
import { testLogger } from '@quittance/testkit/logger.ts';

import { createApp } from '../src/server/app.ts';
import { listen } from '../src/server/listen.ts';

export type TestServer = { url: string; port: number; metrics: Metrics; lifecycle: Lifecycle; stop(): Promise<void> };

/** A real server on a free port of this machine. */
export async function startServer(
  options: Partial<Omit<Parameters<typeof createApp>[0], 'metrics'>> & { port?: number } = {},
): Promise<TestServer> {
  const { lifecycle } = createLifecycle({ logger: testLogger });
  const metrics = createMetrics({ service: 'test', processMetrics: false });
  const app = createApp({
    name: 'test',
    logger: testLogger,
    metrics,
    routes: [],
    ready: () => Promise.resolve(),
    ...options,
  });
  const { port } = await listen(app, { host: '127.0.0.1', port: options.port ?? 0, lifecycle, logger: testLogger });
  return { url: `http://127.0.0.1:${port}`, port, metrics, lifecycle, stop: () => lifecycle.stop('end of test') };
}

export type RawClient = {
  socket: Socket;
  send(text: string): void;
  /** Resolves with everything received so far once `pattern` is in it. Rejects when the connection ends before. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves with everything received when the connection has ended, for any reason. */
  ended: Promise<string>;
};

/** A client that sends exactly what a test wants. */
export async function rawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: '127.0.0.1' });
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  let text = '';
  let looks: (() => void)[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const look of looks) look();
  });
  socket.on('error', () => undefined);
  socket.once('close', () => end(text));
  return {
    socket,
    send: (data) => void socket.write(data),
    received: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => pattern.test(text) && resolve(text);
        looks = [...looks, look];
        void ended.then(() => reject(new Error(`the connection ended after: ${text}`)));
        look();
      }),
    ended,
  };
}
