import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { createConnector } from '../../src/sending/dial.ts';
import { localReceiver } from '../../src/sending/ways-out.ts';
import { startDeliverLoop } from '../../src/lanes/deliver.ts';
import { createBackPressure } from '../../src/lanes/back-pressure.ts';
import { limits } from '../../src/lanes/in-flight-limits.ts';
import { systemResolve } from '../../src/sending/resolve.ts';
import { createSender } from '../../src/sending/sender.ts';
import { createAuthority } from '../certificates.ts';
import { startNameServer, type Zone } from '../name-server.ts';
import { startReceiver, type Receiver } from '../receiver.ts';
import { startStoreWorld, type StoreWorld } from '../store-world.ts';

const zones: Record<string, Zone> = {};
let store: StoreWorld;
let receiver: Receiver;
let stop: () => Promise<void>;
beforeAll(async () => {
  const authority = await createAuthority();
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), authority.certificate]);
  const [world, server, names] = await Promise.all([
    startStoreWorld(),
    startReceiver(authority),
    startNameServer(zones),
  ]);
  [store, receiver] = [world, server];
  const common = { clock: () => new Date(), logger: testLogger, metrics: testMetrics };
  const { dial } = localReceiver({ address: '127.0.0.1', port: receiver.port });
  const connector = createConnector({ resolve: systemResolve({ servers: [names.address] }), dial });
  const sender = createSender({ ...common, connector });
  const pressure = createBackPressure(common);
  const loop = startDeliverLoop({
    ...{ ...common, pool: store.pool, vault: store.vault, sender, pressure },
    ...{ limits, stopping: new AbortController().signal },
    // More than are used up before the test has seen the failures.
    retryDelaysSeconds: Array<number>(10_000).fill(0),
  });
  stop = async () => {
    await loop.close();
    pressure.close();
    await sender.close();
    names.close();
    await receiver.close();
    await store.stop();
  };
});
afterAll(() => stop());

test('events wait while a name server fails or a name does not exist, and arrive when the name resolves', async () => {
  const hosts = { SERVFAIL: 'hooks.unanswered.io', NXDOMAIN: 'hooks.gone.io' } as const;
  const events = await Promise.all(
    Object.entries(hosts).map(async ([error, host]) => {
      zones[host] = error as keyof typeof hosts;
      return store.addEvent(await store.addMerchant(host));
    }),
  );
  for (const event of events) {
    await eventually(async () =>
      expect(await store.stateOf(event)).toMatchObject({ status: 'pending', error_category: 'dns_error' }),
    );
  }
  for (const host of Object.values(hosts)) {
    expect(receiver.received(host)).toEqual([]);
    zones[host] = { a: ['8.8.8.8'] };
  }
  for (const event of events)
    await eventually(async () => expect(await store.stateOf(event)).toMatchObject({ status: 'delivered' }));
  for (const host of Object.values(hosts)) expect(receiver.received(host)).toHaveLength(1);
});
