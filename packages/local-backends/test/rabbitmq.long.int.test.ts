import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isAlive } from '../src/orphans.ts';
import { freePorts } from '../src/ports.ts';
import { startRabbitmq } from '../src/rabbitmq.ts';
import { temporaryDirectory, toolsDirectory } from './support.ts';
import type { Rabbitmq, RabbitmqOptions } from '../src/rabbitmq.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let options: RabbitmqOptions;
beforeAll(async () => {
  directory = await temporaryDirectory();
  const [amqp, management, distribution, epmd] = (await freePorts(4)) as [number, number, number, number];
  options = {
    directory: join(directory.path, 'node'),
    toolsDirectory,
    ports: { amqp, management, distribution, epmd },
    logFile: join(directory.path, 'rabbitmq.log'),
  };
});
afterAll(() => directory.remove());

test('a confirmed message survives a kill -9, and a stop leaves neither the broker nor its port mapper', async () => {
  const first = await startRabbitmq(options);
  await manage(first, 'PUT', '/api/queues/%2f/letters', { durable: true, arguments: { 'x-queue-type': 'quorum' } });
  await manage(first, 'POST', '/api/exchanges/%2f/amq.default/publish', {
    ...{ routing_key: 'letters', payload: 'hello', payload_encoding: 'string', properties: { delivery_mode: 2 } },
  });
  // RabbitMQ 3.10 writes the register of quorum queues half a second after a queue was declared. On a busy machine the
  // command may fail to reach the node.
  const register = () => first.control('eval', 'ok = dets:sync(ra_directory_reverse).');
  await register().catch(register).catch(register);
  await first.kill();

  const second = await startRabbitmq(options);
  // A quorum queue elects its leader shortly after the start.
  let letters: { payload: string }[] = [];
  while (letters.length === 0) {
    letters = await manage(second, 'POST', '/api/queues/%2f/letters/get', {
      count: 1,
      ackmode: 'ack_requeue_true',
      encoding: 'auto',
    });
    if (letters.length === 0) await delay(100);
  }
  expect(letters[0]?.payload).toBe('hello');

  const epmd = Number(await readFile(join(options.directory, 'epmd.pid'), 'utf8'));
  await second.stop();
  expect(await isAlive(second.pid)).toBe(false);
  expect(await isAlive(epmd)).toBe(false);
});

test('a stopped application refuses clients until it is started again, in the same process', async () => {
  const broker = await startRabbitmq(options);
  await broker.stopApp();
  await expect(connected(options.ports.amqp)).rejects.toThrow('ECONNREFUSED');
  await broker.startApp();
  await connected(options.ports.amqp);
  await expect(startRabbitmq({ ...options, directory: join(directory.path, 'other') })).rejects.toThrow(
    'is already in use',
  );
  await broker.kill();
});

async function manage<T>(broker: Rabbitmq, method: string, path: string, body: unknown): Promise<T> {
  const { origin, username, password } = new URL(broker.managementUrl ?? '');
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  // Without keep-alive, because the other end is killed and started again on the same port.
  const headers = { authorization, connection: 'close' };
  const response = await fetch(origin + path, { method, headers, body: JSON.stringify(body) });
  const text = await response.text();
  return (response.ok && text ? JSON.parse(text) : []) as T;
}

async function connected(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}
