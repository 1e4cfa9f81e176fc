import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parsePrivateTargets } from '../../../services/webhook-dispatcher/src/sending/private-targets.ts';
import { parseAllDocuments } from 'yaml';
import { chartFiles } from '../../../infra/kubernetes/chart/files.ts';
import { kustomize, run } from '../../../infra/kubernetes/packaged-tools.ts';
import { chart, comparable, helmTemplate, identity, templateOf } from './support/chart.ts';
import { find, ofKind, podsOf, specOf, type KubernetesObject, type WorkloadSpec } from './support/objects.ts';
import { render } from './support/render.ts';
import { problemsOf } from './support/schemas.ts';

/** As overlays/external. */
const external = {
  externalSecrets: { enabled: false },
  postgres: { operator: false, addresses: ['10.20.0.10/32', '10.20.0.11/32'] },
  rabbitmq: { operator: false, scheme: 'amqps', port: 5671, addresses: ['10.20.0.20/32', '10.20.0.21/32'] },
};

/** As overlays/external-store. */
const store = {
  ...external,
  externalSecrets: { enabled: true },
  postgres: { ...external.postgres, host: 'postgres.example.com' },
  rabbitmq: { ...external.rabbitmq, host: 'rabbitmq.example.com' },
};

const traces = { otlp: { enabled: true }, dashboards: { enabled: true } };

/** As components/private-webhook-targets. */
const privateTargets = {
  privateWebhookTargets: {
    targets: [{ merchant: `mer_${'0'.repeat(32)}`, host: 'shop.internal', address: '10.20.30.40', port: 8443 }],
    ca: readFileSync(join(repositoryRoot, 'k8s/components/private-webhook-targets/ca.pem'), 'utf8'),
  },
};

/** As components/notices. */
const notices = {
  notices: { enabled: true, ca: readFileSync(join(repositoryRoot, 'k8s/components/notices/ca.pem'), 'utf8') },
};

const gateway = { ingress: { enabled: false }, gateway: { enabled: true } };

const everything = {
  ...gateway,
  version: '0.3.0',
  image: {
    registry: 'localhost:5000/pay',
    pullSecrets: [{ name: 'registry' }],
    digests: { quota: `sha256:${'a'.repeat(64)}` },
  },
  host: 'pay.shop.example',
  trustedKeys: 'payments=abc',
  settings: {
    common: { DATABASE_POOL_SIZE: '5' },
    payments: { RATE_MAX_AGE_SECONDS: '120', RATE_MAX_SPREAD_PERCENT: '2' },
    'chain-watcher': { RATE_SOURCES: 'kraken,coinbase,bitstamp,ecb' },
  },
  replicas: { payments: 3, edge: 4 },
  autoscaling: { enabled: false },
  edge: { trustedProxies: ['10.1.0.0/16', '10.2.0.1'] },
  secrets: { names: { payments: 'own-payments' } },
  externalSecrets: { store: { kind: 'SecretStore', name: 'vault' }, prefix: 'shops/' },
  postgres: { cluster: { storage: { storageClass: 'fast' } } },
  caBundle: { secret: 'own-ca', key: 'bundle.pem' },
  monitoring: { labels: { release: 'prometheus' } },
  resources: { payments: { limits: { memory: '1Gi' } }, migrations: { requests: { cpu: '100m' } } },
  dashboards: { enabled: true, labels: { dashboards: 'pay' }, annotations: {} },
  otlp: {
    enabled: true,
    endpoint: 'http://tempo.traces:4319',
    namespace: 'traces',
    podLabels: { app: 'tempo' },
    port: 4319,
  },
  privateWebhookTargets: {
    targets: [
      { merchant: `mer_${'1'.repeat(32)}`, host: 'shop.internal', address: '10.20.30.40', port: 8443 },
      { merchant: `mer_${'2'.repeat(32)}`, host: 'desk.internal', address: 'fd00::1', port: 443 },
    ],
  },
};

describe('the files of the chart', () => {
  test('are up to date with `npm run manifests`', async () => {
    const files = await chartFiles();
    for (const [path, text] of Object.entries(files))
      expect([path, readFileSync(join(repositoryRoot, path), 'utf8')]).toEqual([path, text]);
    const templates = readdirSync(join(chart, 'templates')).filter((name) => name.endsWith('.yaml'));
    expect(templates.sort()).toEqual(
      Object.keys(files)
        .flatMap((path) => /templates\/(.*)$/.exec(path)?.[1] ?? [])
        .sort(),
    );
  });

  test('pass `helm lint`', async () => {
    expect(await run('helm', ['lint', '--strict', '--quiet', chart])).toBe('');
  });
});

describe('the chart makes what the kustomization makes', () => {
  test.each([
    ['production', {}],
    ['external', external],
    ['external with a store', store],
    ['external with a store and an authority', { ...store, caBundle: { secret: 'ca-bundle' } }],
    ['production with traces', traces],
    ['production with a private webhook target', privateTargets],
    ['production with notices', notices],
    ['production with the Gateway API', gateway],
    ['production with KEDA', { autoscaling: { keda: { enabled: true } } }],
    ['production with an authority of its own', { caBundle: { secret: 'ca-bundle' } }],
  ] as const)('of %s', async (overlay, values) => {
    const [theirs, ours] = [comparable(await render(overlay)), comparable(await helmTemplate(values))];
    // The template of the secrets is applied separately.
    const expected = theirs.filter(({ kind }) => kind !== 'Secret');
    expect(ours.map(identity)).toEqual(expected.map(identity));
    for (const [place, object] of expected.entries()) expect(ours[place]).toEqual(object);
  });

  test('of the labels by which a Prometheus selects monitors and rules', async () => {
    const labels = { release: 'kube-prometheus-stack', team: 'pay' };
    const folder = await mkdtemp(join(tmpdir(), 'quittance-k8s-'));
    try {
      await cp(join(repositoryRoot, 'k8s'), folder, { recursive: true });
      const file = join(folder, 'overlays/production/settings/monitor-labels.yaml');
      await writeFile(file, readFileSync(file, 'utf8').replace('{}', JSON.stringify(labels)));
      const text = await kustomize(join(folder, 'overlays/external'));
      const theirs = parseAllDocuments(text).map((document) => document.toJS() as KubernetesObject);
      const labelled = ofKind(comparable(theirs), 'PodMonitor', 'PrometheusRule');
      expect(labelled.length).toBeGreaterThan(2);
      for (const { metadata } of labelled) expect(metadata.labels).toMatchObject(labels);
      const ours = await helmTemplate({ ...external, monitoring: { labels } });
      expect(ofKind(comparable(ours), 'PodMonitor', 'PrometheusRule')).toEqual(labelled);
      expect(theirs.filter(({ metadata }) => metadata.labels?.['team'] !== undefined)).toHaveLength(labelled.length);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('the values', () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await helmTemplate(everything);
  });

  test('make objects that Kubernetes and its operators accept', async () => {
    for (const object of [...objects, ...(await helmTemplate(external))])
      expect([identity(object), problemsOf(object)]).toEqual([identity(object), '']);
  });

  test('set one version and one registry for every pod, every Job and every label', () => {
    const ours = podsOf(objects).filter(({ name }) => name !== 'edge');
    const images = ours.flatMap((pod) => [...pod.containers, ...pod.initContainers].map(({ image }) => image));
    for (const image of images) expect(image).toMatch(/^localhost:5000\/pay\/[a-z-]+:0\.3\.0(@sha256:a{64})?$/);
    expect(images.filter((image) => image.includes('@')).every((image) => image.includes('/quota:'))).toBe(true);
    // RabbitMQ's operator passes labels on to its pods, and would restart them when the version changes.
    expect(find(objects, 'RabbitmqCluster', 'rabbitmq').metadata.labels).toEqual({
      'app.kubernetes.io/part-of': 'quittance',
    });
    for (const { metadata } of objects.filter(({ kind }) => kind !== 'RabbitmqCluster'))
      expect(metadata.labels).toMatchObject({
        ...{ 'app.kubernetes.io/instance': 'shop', 'app.kubernetes.io/managed-by': 'Helm' },
        'app.kubernetes.io/version': '0.3.0',
      });
    for (const { spec } of ours) expect(spec).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
  });

  test('list the nodes of a RabbitMQ, each with its port', async () => {
    const listed = await helmTemplate({ rabbitmq: { host: 'a.example,b.example', scheme: 'amqps', port: 5671 } });
    const urls = ofKind(listed, 'ExternalSecret').flatMap(({ spec }) => {
      const { data } = (spec as { target: { template: { data: Record<string, string> } } }).target.template;
      return [data['AMQP_URL'] ?? data['RABBITMQ_ADMIN_URL'] ?? []].flat();
    });
    expect(urls).toHaveLength(7);
    for (const url of urls) expect(url).toMatch(/^amqps:.*@a\.example:5671,b\.example:5671\/quittance$/);
  });

  test('name each Job by its contents, so that Helm never changes one', async () => {
    const jobs = (of: KubernetesObject[]) => ofKind(of, 'Job').map(({ metadata }) => metadata.name);
    const before = jobs(await helmTemplate());
    expect(jobs(objects).filter((name) => before.includes(name))).toEqual([]);
    expect(jobs(await helmTemplate({ replicas: { edge: 3 } }))).toEqual(before);
  });

  test('replace the pods whose settings they change, and no others', async () => {
    const checksums = (of: KubernetesObject[]) =>
      ofKind(of, 'Deployment').map(
        ({ metadata: { name }, spec }) =>
          [name, templateOf(spec)?.metadata?.annotations?.['checksum/settings']] as const,
      );
    const [before, after] = [{}, { settings: { payments: { LOG_LEVEL: 'debug' } } }].map(helmTemplate);
    const old = new Map(checksums(await before!));
    const changed = checksums(await after!).filter(([name, checksum]) => old.get(name) !== checksum);
    expect(changed.map(([name]) => name)).toEqual(['payments']);
  });

  test('reach the settings, the edge and the backends', () => {
    const data = (name: string) => find(objects, 'ConfigMap', name).data;
    expect(data('common-settings')).toMatchObject({
      DATABASE_POOL_SIZE: '5',
      TRUSTED_KEYS: 'payments=abc',
      PORT: '8080',
    });
    expect(data('payments-settings')).toMatchObject({
      PUBLIC_BASE_URL: 'https://pay.shop.example',
      ...{ RATE_MAX_AGE_SECONDS: '120', RATE_MAX_SPREAD_PERCENT: '2' },
    });
    expect(data('chain-watcher-settings')).toHaveProperty('RATE_SOURCES', 'kraken,coinbase,bitstamp,ecb');
    const nginx = find(objects, 'ConfigMap', 'edge').data!['nginx.conf']!;
    expect(nginx.match(/set_real_ip_from .*/g)).toEqual(
      ['10.1.0.0/16;', '10.2.0.1;'].map((to) => `set_real_ip_from ${to}`),
    );
    expect(specOf<{ hostnames: string[] }>(objects, 'HTTPRoute', 'quittance').hostnames).toEqual(['pay.shop.example']);
    expect(specOf<object>(objects, 'Cluster', 'postgres')).toMatchObject({
      storage: { size: '50Gi', storageClass: 'fast' },
    });
    const secret = specOf<object>(objects, 'ExternalSecret', 'payments');
    expect(secret).toMatchObject({
      secretStoreRef: { kind: 'SecretStore', name: 'vault' },
      target: { name: 'own-payments' },
      data: expect.arrayContaining([
        expect.objectContaining({ remoteRef: { key: 'shops/payments', property: 'signing_key' } }),
      ]),
    });
    const replicas = Object.fromEntries(
      ofKind(objects, 'Deployment').map(({ metadata: { name }, spec }) => [name, (spec as WorkloadSpec).replicas]),
    );
    expect(replicas).toMatchObject({ payments: 3, edge: 4, quota: 2, console: 1 });
    expect(ofKind(objects, 'HorizontalPodAutoscaler', 'Ingress')).toEqual([]);
    for (const { metadata } of ofKind(objects, 'PodMonitor', 'PrometheusRule'))
      expect(metadata.labels).toHaveProperty('release', 'prometheus');
  });
});

describe('the values of single parts', () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await helmTemplate(everything);
  });

  test('change single numbers of resources', async () => {
    const resources = (of: KubernetesObject[]) =>
      new Map(
        podsOf(of).map(({ name, containers }) => [name.replace(/-[0-9a-f]{10}$/, ''), containers[0]!.resources!]),
      );
    const [before, after] = [resources(await helmTemplate()), resources(objects)];
    const { requests, limits } = before.get('payments')!;
    expect(after.get('payments')).toEqual({ requests, limits: { ...limits, memory: '1Gi' } });
    const migration = before.get('migrate-quota')!;
    expect(after.get('migrate-quota')).toEqual({ ...migration, requests: { ...migration.requests, cpu: '100m' } });
    expect(after.get('quota')).toEqual(before.get('quota'));
  });

  test('reach the collector, dashboards and private receivers', () => {
    const data = (name: string) => find(objects, 'ConfigMap', name).data;
    expect(data('common-settings')).toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://tempo.traces:4319');
    expect(specOf<object>(objects, 'NetworkPolicy', 'to-collector')).toMatchObject({
      egress: [
        {
          to: [
            {
              namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'traces' } },
              podSelector: { matchLabels: { app: 'tempo' } },
            },
          ],
          ports: [{ port: 4319 }],
        },
      ],
    });
    const { labels } = find(objects, 'ConfigMap', 'dashboards').metadata;
    expect(labels).toHaveProperty('dashboards', 'pay');
    const text = data('webhook-dispatcher-settings')!['WEBHOOK_PRIVATE_TARGETS']!;
    expect(parsePrivateTargets(text, [])).toMatchObject([
      { host: 'shop.internal', address: '10.20.30.40', port: 8443 },
      { host: 'desk.internal', address: 'fd00::1', port: 443 },
    ]);
    expect(data('webhook-dispatcher-settings')).not.toHaveProperty('WEBHOOK_PRIVATE_TARGETS_CA');
    expect(specOf<object>(objects, 'NetworkPolicy', 'to-private-webhook-targets')).toMatchObject({
      egress: [
        { to: [{ ipBlock: { cidr: '10.20.30.40/32' } }], ports: [{ port: 8443 }] },
        { to: [{ ipBlock: { cidr: 'fd00::1/128' } }], ports: [{ port: 443 }] },
      ],
    });
  });

  test('reach the notifier, with one file for its authority and those of private receivers', async () => {
    const own = { address: '10.96.7.7', from: 'till@shop.example', consoleUrl: 'https://console.shop.example' };
    const told = await helmTemplate({ ...privateTargets, notices: { ...notices.notices, ...own } });
    const data = (name: string) => find(told, 'ConfigMap', name).data!;
    expect(data('notifier-settings')).toMatchObject({ NOTICES_FROM: own.from, CONSOLE_URL: own.consoleUrl });
    expect(data('webhook-dispatcher-settings')).toMatchObject({
      WEBHOOK_NOTIFIER: `notices.internal=${own.address}:8443`,
      WEBHOOK_PRIVATE_TARGETS_CA: '/etc/quittance/notices/ca.pem',
    });
    expect(specOf<object>(told, 'Service', 'notifier')).toHaveProperty('clusterIP', own.address);
    expect(data('notices-ca')['ca.pem']).toBe(notices.notices.ca + privateTargets.privateWebhookTargets.ca);
  });

  test('leave out the alerts and monitors of a backend without its operator', async () => {
    const groupsOf = async (values: object) => {
      const rules = ofKind(await helmTemplate(values), 'PrometheusRule') as { spec: { groups: { name: string }[] } }[];
      const names = rules.flatMap(({ spec }) => spec.groups.map(({ name }) => name));
      return names.filter((name) => /rabbitmq|postgresql|volumes/.test(name));
    };
    expect(await groupsOf({})).toEqual(['quittance-rabbitmq', 'quittance-postgresql', 'quittance-volumes']);
    expect(await groupsOf({ postgres: external.postgres })).toEqual(['quittance-rabbitmq', 'quittance-volumes']);
    expect(await groupsOf({ rabbitmq: external.rabbitmq })).toEqual(['quittance-postgresql', 'quittance-volumes']);
    expect(await groupsOf(external)).toEqual([]);
  });
});

describe('the schema of the values', () => {
  test.each([
    ['a misspelt name', { imgae: {} }, "'imgae'"],
    ['a setting that is no string', { settings: { common: { DATABASE_POOL_SIZE: 5 } } }, 'DATABASE_POOL_SIZE'],
    ['an own PostgreSQL without addresses', { postgres: { operator: false } }, 'addresses'],
    ['notices without the authority of their certificate', { notices: { enabled: true } }, 'ca'],
    ['resources of an unknown pod', { resources: { gateway: {} } }, 'gateway'],
    ['a network that does not exist', { networks: { mars: ['https://node.example'] } }, 'networks names mars'],
  ])('refuses %s', async (_, values, message) => {
    await expect(helmTemplate(values)).rejects.toThrow(message);
  });
});
