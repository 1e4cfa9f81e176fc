import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parseNetworks } from '@quittance/contracts/networks.ts';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';
import { generatedFiles } from '../../../infra/kubernetes/generated-files.ts';
import { environmentOf } from './support/environment.ts';
import {
  find,
  ofKind,
  podsOf,
  selects,
  specOf,
  specsOf,
  type AutoscalerSpec,
  type KubernetesObject,
  type Selector,
  type WorkloadSpec,
} from './support/objects.ts';
import { render } from './support/render.ts';

const read = (path: string): string => readFileSync(join(repositoryRoot, path), 'utf8');

/** The tags of our images, in containers and init containers. */
const versionsOf = (objects: readonly KubernetesObject[]): unknown[] => {
  const ours = podsOf(objects).filter(({ name }) => name !== 'edge');
  const containers = ours.flatMap((pod) => [...pod.containers, ...pod.initContainers]);
  return [...new Set(containers.map(({ image }) => image.split(':').at(-1)))];
};

describe('generated manifests', () => {
  test.each(Object.entries(generatedFiles()))('%s is up to date with `npm run manifests`', (path, text) => {
    expect(read(path)).toBe(text);
  });
});

test('PostgreSQL of the local overlay logs no parameters either', async () => {
  const pods = podsOf(await render('local'));
  const [postgres] = pods.find(({ name }) => name === 'postgres')!.containers;
  expect(postgres!.args).toContain('log_parameter_max_length=0');
});

test('the external overlay alerts on no metric of an operator that it does not use', async () => {
  const rules = ofKind(await render('external'), 'PrometheusRule').map(({ spec }) => JSON.stringify(spec));
  expect(rules.length).toBeGreaterThan(0);
  expect(rules.filter((rule) => /cnpg_|rabbitmq_/.test(rule))).toEqual([]);
});

test('Grafana finds every dashboard in a ConfigMap, by its uid', async () => {
  const { data, metadata } = find(await render('production with traces'), 'ConfigMap', 'dashboards');
  expect(metadata.labels).toHaveProperty('grafana_dashboard', '1');
  const uids = Object.values(data!).map((text) => (JSON.parse(text) as { uid: string }).uid);
  const names = readdirSync(join(repositoryRoot, 'infra/observability/dashboards')).filter((name) =>
    name.endsWith('.json'),
  );
  expect(uids.sort()).toEqual(names.map((name) => `quittance-${name.replace('.json', '')}`).sort());
});

describe('production', () => {
  let objects: KubernetesObject[];
  beforeAll(async () => {
    objects = await render('production');
  });
  const configured = (name: string, key: string): string => {
    const [map] = ofKind(objects, 'ConfigMap').filter(({ metadata }) =>
      new RegExp(`^${name}-[a-z0-9]{10}$`).test(metadata.name),
    );
    return map!.data![key]!;
  };

  test('has its own edge and networks, not those of the base', () => {
    expect(configured('edge', 'nginx.conf')).toBe(read('k8s/overlays/production/edge/nginx.conf'));
    expect(configured('edge', 'nginx.conf')).toMatch(/set_real_ip_from \S+;/);
    const networks = parseNetworks(JSON.parse(configured('networks', 'networks.json')));
    expect(networks.map(({ id, rpc_urls }) => [id, rpc_urls.length])).toEqual([
      ['ethereum', 2],
      ['tron', 2],
    ]);
  });

  test('runs one version, which the migration step knows too', () => {
    // It uses it to recognize a function of a later release.
    const { version } = JSON.parse(read('packages/messaging/package.json')) as { version: string };
    expect(versionsOf(objects)).toEqual([version]);
  });

  test('runs the version of an overlay on top of it, in every pod and every Job', async () => {
    const outer = await render('production of another version');
    expect(versionsOf(outer)).toEqual(['0.3.0']);
    const inner = ofKind(objects, 'Job', 'Deployment').map(({ metadata }) => metadata);
    // Nothing but the image has the version: a name or a label would keep the one of the overlay below.
    expect(ofKind(outer, 'Job', 'Deployment').map(({ metadata }) => metadata)).toEqual(inner);
    expect(JSON.stringify(inner)).not.toMatch(/\d\.\d/);
  });

  test('is reachable at the host of its payment links', () => {
    const { host } = new URL(environmentOf(objects, 'payments')['PUBLIC_BASE_URL']!);
    type Backend = { service: { name: string; port: { name: string } } };
    const { rules, tls } = specOf<{
      rules: { host: string; http: { paths: { backend: Backend }[] } }[];
      tls: { hosts: string[] }[];
    }>(objects, 'Ingress', 'quittance');
    expect([rules.map((rule) => rule.host), tls.map(({ hosts }) => hosts)]).toEqual([[host], [[host]]]);
    const { service } = rules[0]!.http.paths[0]!.backend;
    const { ports } = specOf<{ ports: { name: string }[] }>(objects, 'Service', service.name);
    expect(ports.map(({ name }) => name)).toContain(service.port.name);
  });

  test('sends each client to one edge, because each edge counts separately', () => {
    const { annotations } = find(objects, 'Ingress', 'quittance').metadata;
    expect(annotations).toHaveProperty(['nginx.ingress.kubernetes.io/upstream-hash-by'], '$binary_remote_addr');
  });

  test('has two of everything, or an autoscaler with that minimum', () => {
    const floors = specsOf<WorkloadSpec>(objects, 'Deployment').map(({ name, spec }) => {
      const scaler = scalerOf(name);
      // With both, each apply would undo the autoscaler's change.
      return [name, scaler ? (spec.replicas === undefined ? scaler.minReplicas : 0) : spec.replicas];
    });
    expect(Object.fromEntries(floors)).toEqual({
      operator: 1,
      console: 1,
      ...Object.fromEntries(['edge', ...serviceNames].map((name) => [name, 2])),
    });
  });

  test('needs no more connections than PostgreSQL allows, with every autoscaler at its maximum and every rollout in progress', () => {
    const networks = parseNetworks(JSON.parse(configured('networks', 'networks.json'))).length;
    const connections = serviceNames.map((name) => {
      const { replicas = 0, strategy } = specOf<WorkloadSpec>(objects, 'Deployment', name);
      const pods = (scalerOf(name)?.maxReplicas ?? replicas) + strategy.rollingUpdate.maxSurge;
      const pool = Number(environmentOf(objects, name)['DATABASE_POOL_SIZE']);
      return pods * (pool + (name === 'chain-watcher' ? networks : 0));
    });
    const ofTheOperator = 20;
    const sum = connections.reduce((total, one) => total + one, ofTheOperator);
    expect(sum).toBeLessThanOrEqual(Number(cluster().postgresql.parameters['max_connections']));
  });

  test('has PostgreSQL log no parameters, which hold what merchants sent', () => {
    expect(cluster().postgresql.parameters).toMatchObject({ log_parameter_max_length: '0' });
  });

  test('scales dispatchers by a metric that they expose and the adapter offers', () => {
    const adapter = parse(read('k8s/components/autoscaling/prometheus-adapter.yaml')) as {
      rules: { external: { seriesQuery: string; name: { as: string } }[] };
    };
    const rule = adapter.rules.external[0]!;
    const asked = scalerOf('webhook-dispatcher')!.metrics.flatMap(({ external }) => external?.metric.name ?? []);
    expect(asked).toEqual([rule.name.as]);
    const [, series = ''] = /^(\w+)\{/.exec(rule.seriesQuery) ?? [];
    expect(read('services/webhook-dispatcher/src/lanes/housekeeping.ts')).toContain(`metrics.gauge('${series}'`);
  });

  test('scales dispatchers with KEDA as without', async () => {
    const keda = await render('production with KEDA');
    type Trigger = { type: string; metadata: Record<string, string> };
    const scaled = specOf<{ minReplicaCount: number; maxReplicaCount: number; triggers: Trigger[]; advanced: object }>(
      ...([keda, 'ScaledObject', 'webhook-dispatcher'] as const),
    );
    const { minReplicas, maxReplicas, metrics, behavior } = scalerOf('webhook-dispatcher')! as AutoscalerSpec & {
      behavior: object;
    };
    expect([scaled.minReplicaCount, scaled.maxReplicaCount]).toEqual([minReplicas, maxReplicas]);
    expect(scaled.advanced).toEqual({ horizontalPodAutoscalerConfig: { behavior } });
    const [cpu, backlog] = scaled.triggers;
    expect(metrics).toMatchObject([
      { resource: { target: { averageUtilization: Number(cpu!.metadata['value']) } } },
      { external: { target: { averageValue: backlog!.metadata['threshold'] } } },
    ]);
    expect(backlog!.metadata['query']).toBe('max(webhook_backlog_deliveries{namespace="quittance"})');
    const others = ofKind(keda, 'HorizontalPodAutoscaler').map(({ metadata }) => metadata.name);
    expect(others).toEqual(['api-gateway', 'payments']);
  });

  test('has every rule file unchanged', () => {
    const rules = ofKind(objects, 'PrometheusRule');
    expect(rules.length).toBeGreaterThan(0);
    for (const { metadata, spec } of rules) {
      const file = `infra/observability/alerts/${metadata.name.replace('quittance-', '')}.rules.yaml`;
      expect(spec).toEqual(parse(read(file)));
    }
  });

  test('monitors existing pods, at a port that they have', () => {
    type Monitor = { selector: Selector; podMetricsEndpoints: { port: string; path: string }[] };
    const { selector, podMetricsEndpoints } = specOf<Monitor>(objects, 'PodMonitor', 'services');
    const found = podsOf(objects).filter(({ labels }) => selects(selector, labels));
    expect(found.map(({ name }) => name).sort()).toEqual([...serviceNames].sort());
    const [endpoint] = podMetricsEndpoints;
    expect(endpoint).toMatchObject({ path: '/metrics', honorLabels: true });
    for (const { containers } of found) expect(containers[0]!.ports?.map(({ name }) => name)).toContain(endpoint!.port);

    const console = specOf<Monitor>(objects, 'PodMonitor', 'console');
    const [pod, ...others] = podsOf(objects).filter(({ labels }) => selects(console.selector, labels));
    expect([pod?.name, others]).toEqual(['console', []]);
    expect(pod!.containers[0]!.ports?.map(({ name }) => name)).toContain(console.podMetricsEndpoints[0]!.port);
  });

  test('confirms no commit before a second PostgreSQL has it', () => {
    const { instances, postgresql, affinity } = cluster();
    expect(postgresql.synchronous).toMatchObject({ method: 'any', number: 1, dataDurability: 'required' });
    expect([instances, affinity.podAntiAffinityType]).toEqual([3, 'required']);
  });

  test('creates and backs up its schemas with existing objects', () => {
    const { bootstrap, plugins } = cluster();
    const [schemas] = bootstrap.initdb.postInitApplicationSQLRefs.configMapRefs;
    const { data } = find(objects, 'ConfigMap', schemas!.name) as { data: Record<string, string> };
    // psql prints the result of a select, and these set passwords.
    expect(data[schemas!.key]).toContain('quittance.service_password');
    expect(data[schemas!.key]).not.toMatch(/^select/m);
    type Backup = { cluster: { name: string }; pluginConfiguration: { name: string } };
    const backup = specOf<Backup>(objects, 'ScheduledBackup', 'postgres');
    expect(plugins).toMatchObject([{ name: backup.pluginConfiguration.name, isWALArchiver: true }]);
    expect(() => find(objects, 'ObjectStore', plugins[0]!.parameters.barmanObjectName)).not.toThrow();
    expect(backup.cluster.name).toBe('postgres');
  });

  test('keeps a majority of brokers when a node is drained', () => {
    const { maxUnavailable, selector } = specOf<{ maxUnavailable: number; selector: Selector }>(
      objects,
      'PodDisruptionBudget',
      'rabbitmq',
    );
    const { replicas } = specOf<{ replicas: number }>(objects, 'RabbitmqCluster', 'rabbitmq');
    expect([replicas, maxUnavailable, selects(selector, { 'app.kubernetes.io/name': 'rabbitmq' })]).toEqual([
      3,
      1,
      true,
    ]);
  });

  const scalerOf = (name: string): AutoscalerSpec | undefined =>
    specsOf<AutoscalerSpec>(objects, 'HorizontalPodAutoscaler').find(({ spec }) => spec.scaleTargetRef.name === name)
      ?.spec;

  const cluster = () =>
    specOf<{
      instances: number;
      affinity: { podAntiAffinityType: string };
      postgresql: { synchronous: object; parameters: Record<string, string> };
      bootstrap: { initdb: { postInitApplicationSQLRefs: { configMapRefs: { name: string; key: string }[] } } };
      plugins: { name: string; isWALArchiver: boolean; parameters: { barmanObjectName: string } }[];
    }>(objects, 'Cluster', 'postgres');
});
