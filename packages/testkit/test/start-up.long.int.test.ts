import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames, type ServiceName } from '@quittance/contracts/service-name.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import * as quota from '../../../services/quota/src/migrations.ts';
import { testBroker } from '../src/broker.ts';
import { testDatabase } from '../src/database.ts';
import { eventually } from '../src/eventually.ts';
import { faultProxy } from '../src/fault-proxy.ts';
import { processEnvironment, startServiceProcess } from '../src/service-process.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let broker: Awaited<ReturnType<typeof testBroker>>;

beforeAll(async () => {
  [database, broker] = await Promise.all([testDatabase(quota), testBroker()]);
});
afterAll(() => database.drop());

/** A service's process with quota's database, which is enough until its first own query. */
const start = (name: ServiceName, settings: Record<string, string>) =>
  startServiceProcess(new URL(`../../../services/${name}/src/main.ts`, import.meta.url), {
    DATABASE_URL: database.url,
    AMQP_URL: broker.url,
    INTERNAL_TOKEN: 'a token that only the tests of the start know',
    NETWORKS_FILE: fileURLToPath(new URL('../../../infra/networks.json', import.meta.url)),
    PUBLIC_BASE_URL: 'https://pay.example',
    WEBHOOK_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    ...Object.fromEntries(neighbours.map((url) => [url, 'http://127.0.0.1:1'])),
    ...settings,
  });

const neighbours = ['PAYMENTS_URL', 'QUOTA_URL', 'CHAIN_WATCHER_URL', 'WEBHOOK_DISPATCHER_URL'];

/** The settings that each service needs in addition to the common ones. */
const own: Record<ServiceName, readonly string[]> = {
  'api-gateway': ['NETWORKS_FILE', 'PAYMENTS_URL', 'WEBHOOK_DISPATCHER_URL'],
  payments: ['NETWORKS_FILE', 'PUBLIC_BASE_URL', 'QUOTA_URL', 'WEBHOOK_DISPATCHER_URL', 'CHAIN_WATCHER_URL'],
  'chain-watcher': ['NETWORKS_FILE'],
  'webhook-dispatcher': ['WEBHOOK_ENCRYPTION_KEY'],
  quota: [],
};

const run = promisify(execFile);

const withPassword = (url: string, password: string): string => Object.assign(new URL(url), { password }).href;

describe('a service', () => {
  test('without settings names all required settings together, in every service', async () => {
    const main = (name: ServiceName) =>
      fileURLToPath(new URL(`../../../services/${name}/src/main.ts`, import.meta.url));
    const ended = await Promise.all(
      serviceNames.map((name) =>
        run(process.execPath, [main(name)], { env: processEnvironment() }).then(
          () => ({ name, code: 0, stderr: '' }),
          (error: unknown) => ({ name, ...(error as { code: number; stderr: string }) }),
        ),
      ),
    );
    for (const { name, code, stderr } of ended) {
      expect([name, code]).toEqual([name, 78]);
      const missing = [...stderr.matchAll(/^ {2}([A-Z_]+): is required$/gm)].map(([, setting]) => setting);
      expect(missing).toEqual(
        expect.arrayContaining(['PORT', 'DATABASE_URL', 'AMQP_URL', 'INTERNAL_TOKEN', ...own[name]]),
      );
    }
  });

  test('reports immediately that its database refuses the password, in every service', async () => {
    const failures = await Promise.all(
      serviceNames.map((name) =>
        start(name, { DATABASE_URL: withPassword(database.url, 'wrong') }).then(
          () => 'it started',
          (error: unknown) => String(error),
        ),
      ),
    );
    for (const failure of failures) {
      expect(failure).toContain('the database refuses this process: password authentication failed');
    }
  });

  test('reports immediately that RabbitMQ refuses the password', async () => {
    const started = start('quota', { AMQP_URL: withPassword(broker.url, 'wrong') });
    await expect(started).rejects.toThrow('RabbitMQ refuses this process');
  });

  test('waits for a database that is not there yet, without listening, and then starts', async () => {
    const proxy = await faultProxy({ target: database.url });
    proxy.cut();
    const port = await freePort();
    const starting = start('quota', { DATABASE_URL: proxy.url, PORT: String(port) });
    // A balancer would pass on any answer here, even a 503, although another replica could have answered.
    const answers: number[] = [];
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => null);
      if (answer !== null) answers.push(answer.status);
      expect(proxy.refused()).toBeGreaterThan(4);
    });
    expect(answers).toEqual([]);
    proxy.restore();
    const service = await starting;
    await eventually(async () => expect((await fetch(`${service.url}/readyz`)).status).toBe(200));
    expect(service.entries.filter(({ msg }) => msg === 'waiting for a backend')).toHaveLength(1);
    expect(await service.stop()).toBe(0);
    await proxy.close();
  });

  test('starts although the broker cannot be reached', async () => {
    const service = await start('quota', { AMQP_URL: 'amqp://127.0.0.1:1' });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });
});
