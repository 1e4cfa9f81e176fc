import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { isPublicAddress } from '@quittance/contracts/public-address.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parsePrivateTargets } from '../../../services/webhook-dispatcher/src/sending/private-targets.ts';
import { environmentIn, environmentOf } from './support/environment.ts';
import { ofKind, podsOf, specOf, type KubernetesObject } from './support/objects.ts';
import { Network, type Party } from './support/network.ts';
import { overlayNames, render } from './support/render.ts';

const postgres = pod('postgres', { 'cnpg.io/cluster': 'postgres' });
/** A cluster that was restored next to the first one. */
const restored = pod('postgres-2', { 'cnpg.io/cluster': 'postgres-2' });
const rabbitmq = pod('rabbitmq', { 'app.kubernetes.io/name': 'rabbitmq' });
const stranger = pod('stranger', { 'app.kubernetes.io/name': 'stranger' });
const prometheus = pod('prometheus', { 'app.kubernetes.io/name': 'prometheus' }, 'monitoring');
const ingress = pod('ingress', { 'app.kubernetes.io/name': 'controller' }, 'ingress');
/** cert-manager's pod while it proves ownership of the host. */
const challenge = pod('challenge', { 'acme.cert-manager.io/http01-solver': 'true' });
const collector = pod('collector', { 'app.kubernetes.io/name': 'collector' }, 'observability');
const neighbour = pod('neighbour', { 'app.kubernetes.io/component': 'service' }, 'default');
/** Ports of the Kubernetes API and the backups' bucket, whose addresses only a deployment knows. */
const outward = [443, 6443];
const isLocal = (overlay: string): boolean => overlay === 'local';
/** PostgreSQL and RabbitMQ are outside the cluster: pods that look like them are not trusted. */
const isExternal = (overlay: string): boolean => overlay.startsWith('external');
const ports = [22, 53, 80, 443, 4318, 5432, 5671, 5672, 6443, 8000, 8080, 8089, 8545, 9187, 15672, 15692, 4369, 25672];

describe.each(overlayNames)('the network of %s', (overlay) => {
  let objects: KubernetesObject[];
  let network: Network;
  let ours: Party[];

  beforeAll(async () => {
    objects = await render(overlay);
    network = new Network(objects);
    const made = podsOf(objects).map(({ name, labels }) => pod(name, labels));
    ours = [...made.filter(({ name }) => name !== 'postgres' && name !== 'rabbitmq'), postgres, rabbitmq];
  });

  test('allows what is configured, and nothing else', () => {
    const everybody = [...ours, stranger, challenge, prometheus, ingress, collector, neighbour];
    const flows = everybody.flatMap((from) =>
      everybody
        .filter((to) => (from.namespace === 'quittance' || to.namespace === 'quittance') && from.name !== to.name)
        .flatMap((to) => ports.filter((port) => network.lets(from, to, port)).map((port) => flow(from, to, port))),
    );
    expect(flows.sort()).toEqual(configured(objects, overlay).sort());
  });

  test('treats a restored PostgreSQL as the first one', () => {
    const everybody = [...ours, stranger, prometheus, ingress, neighbour];
    const ways = (database: Party) =>
      everybody.flatMap((other) =>
        ports.map((port) => [
          other.name,
          port,
          network.lets(other, database, port),
          network.lets(database, other, port),
        ]),
      );
    expect(ways(restored)).toEqual(ways(postgres));
  });

  test('never allows at one end what the other end forbids', () => {
    const inside = [...ours, stranger];
    const oneSided = inside.flatMap((from) =>
      inside.flatMap((to) =>
        ports
          .filter((port) => network.sends(from, to, port) !== network.receives(from, to, port))
          .filter((port) => !(from.name === 'postgres' && outward.includes(port)))
          .map((port) => flow(from, to, port)),
      ),
    );
    const open = overlay.endsWith('load balancer') ? inside.map((from) => flow(from, { name: 'edge' }, 8080)) : [];
    expect(oneSided.sort()).toEqual(open.sort());
  });

  test('lets chain-watcher and webhook-dispatcher reach the internet by HTTPS, PostgreSQL its bucket, and nothing else', () => {
    const outside = ['8.8.8.8', '1.1.1.1', '2606:4700::1111'];
    const reached = (party: Party) =>
      outside.map((address) => ports.filter((port) => network.letsOut(party, address, port)));
    const allowed: Record<string, number[]> = { 'chain-watcher': [443], 'webhook-dispatcher': [443] };
    if (!isLocal(overlay) && !isExternal(overlay)) allowed['postgres'] = outward;
    for (const party of ours) {
      const expected = allowed[party.name] ?? [];
      expect([party.name, reached(party)]).toEqual([party.name, outside.map(() => expected)]);
    }
  });
});

test.each(overlayNames)(
  'nothing in the cluster of %s reaches the console but Prometheus its metrics, and it reaches only the services',
  async (overlay) => {
    const objects = await render(overlay);
    const network = new Network(objects);
    const pods = podsOf(objects).map(({ name, labels }) => pod(name, labels));
    const console = pods.find(({ name }) => name === 'console')!;
    const everybody = [...pods.filter((one) => one !== console), postgres, rabbitmq, stranger, prometheus, ingress];
    const open = everybody.flatMap((from) =>
      [...ports, 8081].filter((port) => network.lets(from, console, port)).map((port) => [from.name, port]),
    );
    expect(open).toEqual([['prometheus', 8081]]);
    const reached = everybody.filter((to) => ports.some((port) => network.lets(console, to, port)));
    expect(reached.map(({ name }) => name).sort()).toEqual([...serviceNames].sort());
  },
);

describe('access to the internet', () => {
  /** For each address family, the allowed block with its exceptions. */
  let blocks: { cidr: string; except: string[] }[];
  let network: Network;

  beforeAll(async () => {
    const objects = await render('production');
    network = new Network(objects);
    const { egress } = specOf<{ egress: { to: { ipBlock: (typeof blocks)[number] }[] }[] }>(
      objects,
      'NetworkPolicy',
      'to-internet',
    );
    blocks = egress[0]!.to.map(({ ipBlock }) => ipBlock);
  });

  test('is closed for the blocks that webhooks are never sent to', () => {
    const source = readFileSync(join(repositoryRoot, 'packages', 'contracts', 'src', 'public-address.ts'), 'utf8');
    const [shut4, open6, shut6] = [...source.matchAll(/blockList\('ipv\d', \[([^\]]*)\]/g)].map(([, list = '']) =>
      [...list.matchAll(/'([^']+)'/g)].map(([, block]) => block),
    );
    expect(blocks).toEqual([
      { cidr: '0.0.0.0/0', except: shut4 },
      { cidr: open6![0], except: shut6 },
    ]);
  });

  test('has the same exceptions in the network policy and in webhook-dispatcher', () => {
    const dispatcher = pod('webhook-dispatcher', { 'app.kubernetes.io/name': 'webhook-dispatcher' });
    const inside = blocks.flatMap(({ except }) => except.map((block) => block.split('/')[0]!));
    const addresses = [
      ...inside,
      '8.8.8.8',
      '11.0.0.0',
      '172.32.0.1',
      '192.0.3.1',
      '169.253.0.1',
      '::1',
      'fd00::1',
      'fe80::1',
    ].concat('64:ff9b::7f00:1', '::ffff:10.0.0.1', '2606:4700::1111', '2a00::1', '3ffe::1', '4000::1');
    const judged = addresses.map((address) => [address, network.letsOut(dispatcher, address, 443)]);
    expect(judged).toEqual(addresses.map((address) => [address, isPublicAddress(address)]));
  });
});

test('external backends are reachable for the pods that have their URL, at the addresses that the overlay names', async () => {
  const objects = await render('external');
  const network = new Network(objects);
  const pods = podsOf(objects);
  const tried = ['10.20.0.9', '10.20.0.10', '10.20.0.11', '10.20.0.20', '10.20.0.21', '10.20.0.22'];
  const reached = pods.flatMap(({ name, labels }) =>
    tried.flatMap((address) =>
      ports
        .filter((port) => network.letsOut(pod(name, labels), address, port))
        .map((port) => `${name} → ${address}:${port}`),
    ),
  );
  const expected = pods.flatMap((one) => {
    const container = one.containers[0]!;
    const { DATABASE_URL, AMQP_URL, RABBITMQ_ADMIN_URL } = environmentIn(objects, container);
    const ways = (url: string | undefined, ends: number[]) =>
      url === undefined ? [] : ends.map((end) => `${one.name} → 10.20.0.${end}:${new URL(url).port}`);
    return [...ways(DATABASE_URL, [10, 11]), ...ways(AMQP_URL ?? RABBITMQ_ADMIN_URL, [20, 21])];
  });
  expect(reached.sort()).toEqual(expected.sort());
  expect(reached.length).toBeGreaterThan(2 * serviceNames.length);
});

describe('access to private webhook targets', () => {
  let objects: KubernetesObject[];
  let network: Network;

  beforeAll(async () => {
    objects = await render('production with a private webhook target');
    network = new Network(objects);
  });

  test('is open to exactly the addresses and ports that the setting names', () => {
    const targets = parsePrivateTargets(environmentOf(objects, 'webhook-dispatcher')['WEBHOOK_PRIVATE_TARGETS']!, []);
    const { egress } = specOf<{ egress: { to: { ipBlock: { cidr: string } }[]; ports: { port: number }[] }[] }>(
      objects,
      'NetworkPolicy',
      'to-private-webhook-targets',
    );
    const opened = egress.flatMap(({ to, ports: open }) =>
      to.flatMap(({ ipBlock }) => open.map(({ port }) => `${ipBlock.cidr}:${port}`)),
    );
    const named = targets.map(({ address, port }) => `${address}/${isIPv6(address) ? 128 : 32}:${port}`);
    expect(opened.sort()).toEqual(named.sort());
    expect(named).not.toEqual([]);
  });

  test('is open to webhook-dispatcher only, and for no other port or address', () => {
    const tried = ['10.20.30.39', '10.20.30.40', '10.20.30.41', '10.20.30.1', '169.254.169.254', '127.0.0.1', '::1'];
    const reached = podsOf(objects).flatMap(({ name, labels }) =>
      tried.flatMap((address) =>
        [...ports, 8443]
          .filter((port) => network.letsOut(pod(name, labels), address, port))
          .map((port) => `${name} → ${address}:${port}`),
      ),
    );
    expect(reached).toEqual(['webhook-dispatcher → 10.20.30.40:8443']);
  });
});

function pod(name: string, labels: Record<string, string>, namespace = 'quittance'): Party {
  return { name, namespace, labels };
}

const flow = (from: { name: string }, to: { name: string }, port: number): string =>
  `${from.name} → ${to.name}:${port}`;

/** Every connection in the settings of a pod, and those of the surrounding cluster. */
function configured(objects: readonly KubernetesObject[], overlay: string): string[] {
  const called = podsOf(objects).flatMap((one) =>
    [...one.containers, ...one.initContainers].flatMap((container) =>
      Object.values(environmentIn(objects, container))
        .flatMap((value) => [URL.parse(value)].filter((url) => url !== null && !url.hostname.includes('example')))
        .filter((url) => ['http:', 'postgres:', 'amqp:'].includes(url!.protocol) && url!.hostname !== 'localhost')
        .map((url) => `${one.name} → ${hostOf(url!.hostname)}:${url!.port}`),
    ),
  );
  const upstreams = ofKind(objects, 'ConfigMap')
    .flatMap(({ data }) => data?.['nginx.conf'] ?? [])
    .flatMap((text) =>
      [...text.matchAll(/^ *server ([\w-]+):(\d+) /gm)].map(([, host, port]) => `edge → ${host}:${port}`),
    );
  const scraped = serviceNames.map((name) => `prometheus → ${name}:8080`);
  return [...new Set([...called, ...upstreams, ...scraped, ...(isLocal(overlay) ? [] : aroundProduction(overlay))])];
}

/** The pod's name for the name of a Service or server. */
const hostOf = (host: string): string =>
  ({ 'postgres-rw': 'postgres', 'collector.observability': 'collector' })[host] ?? host;

function aroundProduction(overlay: string): string[] {
  // A load balancer forwards the clients' own addresses, so the edge's port is open to all clients.
  const clients = overlay.endsWith('load balancer') ? [prometheus, ingress, collector, neighbour] : [ingress];
  const elsewhere = [prometheus, ingress, collector, neighbour];
  return [
    ...clients.map((party) => `${party.name} → edge:8080`),
    'ingress → challenge:8089',
    ...(isExternal(overlay)
      ? []
      : [
          'prometheus → postgres:9187',
          'prometheus → rabbitmq:15692',
          ...elsewhere.flatMap(({ name }) => outward.map((port) => `postgres → ${name}:${port}`)),
        ]),
  ];
}
