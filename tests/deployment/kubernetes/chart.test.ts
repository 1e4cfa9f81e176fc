import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { chartFiles } from '../../../infra/kubernetes/chart/files.ts';
import { run } from '../../../infra/kubernetes/packaged-tools.ts';
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
  settings: { common: { DATABASE_POOL_SIZE: '5' } },
  replicas: { payments: 3, edge: 4 },
  autoscaling: { enabled: false },
  edge: { trustedProxies: ['10.1.0.0/16', '10.2.0.1'] },
  secrets: { names: { payments: 'own-payments' } },
  externalSecrets: { store: { kind: 'SecretStore', name: 'vault' }, prefix: 'shops/' },
  postgres: { cluster: { storage: { storageClass: 'fast' } } },
  caBundle: { secret: 'own-ca', key: 'bundle.pem' },
  monitoring: { labels: { release: 'prometheus' } },
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
    expect(data('payments-settings')).toMatchObject({ PUBLIC_BASE_URL: 'https://pay.shop.example' });
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

describe('the schema of the values', () => {
  test.each([
    ['a misspelt name', { imgae: {} }, "'imgae'"],
    ['a setting that is no string', { settings: { common: { DATABASE_POOL_SIZE: 5 } } }, 'DATABASE_POOL_SIZE'],
    ['an own PostgreSQL without addresses', { postgres: { operator: false } }, 'addresses'],
    ['a network that does not exist', { networks: { mars: ['https://node.example'] } }, 'networks names mars'],
  ])('refuses %s', async (_, values, message) => {
    await expect(helmTemplate(values)).rejects.toThrow(message);
  });
});
