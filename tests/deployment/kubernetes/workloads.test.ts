import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import {
  find,
  jobPods,
  ofKind,
  podOf,
  podsOf,
  selects,
  servicePods,
  specOf,
  specsOf,
  type KubernetesObject,
  type Labels,
  type Pod,
  type Selector,
  type WorkloadSpec,
} from './support/objects.ts';
import { base, composeText } from '../support/compose.ts';
import { overlayNames, render } from './support/render.ts';

test('every pod of ours pulls its image with the Secret of a private registry', async () => {
  const objects = await render('production from a private registry');
  const accounts = podsOf(objects).map(({ spec }) => find(objects, 'ServiceAccount', spec.serviceAccountName));
  expect(accounts.length).toBeGreaterThan(0);
  for (const account of accounts) expect(account).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
});

describe.each(overlayNames)('the pods of %s', (overlay) => {
  let objects: KubernetesObject[];
  let pods: Pod[];
  let deployments: Pod[];

  beforeAll(async () => {
    objects = await render(overlay);
    pods = podsOf(objects);
    // Nothing depends on what operators use, and one person uses it at a time.
    deployments = pods.filter(({ kind, name }) => kind === 'Deployment' && !['operator', 'console'].includes(name));
  });

  test('have the strictest Pod Security level, and the namespace accepts no others', () => {
    const { labels = {} } = find(objects, 'Namespace', 'quittance').metadata;
    expect(labels['pod-security.kubernetes.io/enforce']).toBe('restricted');
    for (const { owner, spec, containers, initContainers } of pods) {
      expect({ owner, ...spec.securityContext }).toMatchObject({
        owner,
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(spec.securityContext?.runAsUser).toBeGreaterThan(0);
      expect([spec.hostNetwork, spec.hostPID, spec.hostIPC]).toEqual([undefined, undefined, undefined]);
      expect(spec.volumes?.some((volume) => 'hostPath' in volume) ?? false).toBe(false);
      for (const { name, securityContext } of [...containers, ...initContainers]) {
        expect({ owner, name, ...securityContext }).toMatchObject({
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'] },
        });
        expect(securityContext).not.toHaveProperty('privileged');
      }
    }
  });

  test('of ours run as 10001 and write only to memory and /tmp', () => {
    for (const { spec, containers, initContainers } of pods.filter(({ kind }) => kind !== 'StatefulSet')) {
      expect([spec.securityContext?.runAsUser, spec.securityContext?.runAsGroup]).toEqual([10001, 10001]);
      for (const { securityContext } of [...containers, ...initContainers]) {
        expect(securityContext).toHaveProperty('readOnlyRootFilesystem', true);
      }
    }
  });

  test('cannot use the Kubernetes API', () => {
    for (const { owner, kind, spec } of pods) {
      expect([owner, spec.automountServiceAccountToken]).toEqual([owner, false]);
      if (kind === 'StatefulSet') continue;
      const account = find(objects, 'ServiceAccount', spec.serviceAccountName);
      expect(account).toHaveProperty('automountServiceAccountToken', false);
    }
    expect(ofKind(objects, 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding')).toEqual([]);
  });

  test('run images with a version', () => {
    const images = pods.flatMap(({ containers, initContainers }) =>
      [...containers, ...initContainers].map(({ image }) => image),
    );
    expect(images.filter((image) => !/:[\w.-]+$/.test(image) || image.endsWith(':latest'))).toEqual([]);
    // Third-party images are those of docker-compose.yml, with the same digest: one nginx, one PostgreSQL, one RabbitMQ.
    const composed = [...composeText(base).matchAll(/image: (\S+@sha256:[0-9a-f]{64})$/gm)].map(([, image]) => image);
    expect(images.filter((image) => !image.includes('quittance/') && !composed.includes(image))).toEqual([]);
  });

  test('say how much memory and CPU they need, and their memory limit', () => {
    for (const { owner, containers, initContainers } of pods) {
      for (const { name, resources } of [...containers, ...initContainers]) {
        expect({ owner, name, ...resources }).toMatchObject({
          requests: { cpu: expect.stringMatching(/^\d+m?$/), memory: expect.stringMatching(/^\d+[MG]i$/) },
          limits: { memory: expect.stringMatching(/^\d+[MG]i$/) },
        });
        // A CPU limit would pause a process in the middle of its work, even while the CPU is otherwise idle.
        expect(resources?.limits).not.toHaveProperty('cpu');
      }
    }
  });

  test('are found by their Service, which uses a port that they listen on', () => {
    const services = specsOf<{ selector: Labels; ports: { targetPort: string }[] }>(objects, 'Service');
    expect(services.length).toBeGreaterThan(serviceNames.length);
    for (const { name, spec } of services) {
      const found = pods.filter(({ labels }) => selects({ matchLabels: spec.selector }, labels));
      expect(found.map((pod) => pod.name)).toEqual([name]);
      for (const { targetPort } of spec.ports) {
        expect(found[0]!.containers[0]!.ports?.map((port) => port.name)).toContain(targetPort);
      }
    }
  });

  test('match the Deployment, the disruption budget and the spread that are for them', () => {
    const budgets = specsOf<{ selector: Selector; maxUnavailable: number }>(objects, 'PodDisruptionBudget');
    for (const { name, labels, spec } of deployments) {
      expect(selects(specOf<WorkloadSpec>(objects, 'Deployment', name).selector, labels)).toBe(true);
      const own = budgets.filter((budget) => selects(budget.spec.selector, labels));
      expect(own.map((budget) => [budget.name, budget.spec.maxUnavailable])).toEqual([[name, 1]]);
      const spread = spec.topologySpreadConstraints ?? [];
      expect(spread.map(({ topologyKey }) => topologyKey).sort()).toEqual([
        'kubernetes.io/hostname',
        'topology.kubernetes.io/zone',
      ]);
      for (const { labelSelector } of spread) expect(selects(labelSelector, labels)).toBe(true);
    }
  });

  test('are replaced one by one without reducing their number, and get no traffic before they stop', () => {
    for (const { owner, name, spec, containers } of deployments) {
      const { strategy } = specOf<WorkloadSpec>(objects, 'Deployment', name);
      const oneByOne = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
      expect([owner, strategy]).toEqual([owner, oneByOne]);
      expect(containers).toHaveLength(1);
      const sleep = containers[0]!.lifecycle?.preStop?.sleep?.seconds ?? 0;
      // Longer than a node needs to learn that an endpoint is gone. After that the process has its full time to stop.
      expect(sleep).toBeGreaterThanOrEqual(5);
      const stop = name === 'edge' ? EDGE_STOP_SECONDS : SERVICE_STOP_SECONDS;
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(sleep + stop + 5);
    }
  });

  test('of services, and of the console, have probes that they answer, with sufficient limits', () => {
    for (const { name, containers } of [...servicePods(objects), podOf(objects, 'console')]) {
      // People reach the console's pages directly, so its probes have a separate port.
      const port = name === 'console' ? 'probes' : 'http';
      const { startupProbe, readinessProbe, livenessProbe } = containers[0]!;
      expect(startupProbe?.httpGet).toEqual({ path: '/livez', port });
      expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port });
      // Never /readyz: a database outage would restart every pod.
      expect(livenessProbe?.httpGet).toEqual({ path: '/livez', port });
      // Even if it does not answer while it waits for the database. /readyz itself gives up after a second.
      expect(startupProbe!.periodSeconds! * startupProbe!.failureThreshold!).toBeGreaterThan(DATABASE_WAIT_SECONDS);
      expect(readinessProbe!.timeoutSeconds).toBeGreaterThan(READY_TIMEOUT_SECONDS);
      expect(livenessProbe!.periodSeconds! * livenessProbe!.failureThreshold!).toBeGreaterThanOrEqual(60);
      const probes = name === 'console' ? [{ name: 'probes', containerPort: 8081 }] : [];
      expect(containers[0]!.ports).toEqual([{ name: 'http', containerPort: 8080 }, ...probes]);
    }
  });

  test('of services wait for their version’s migrations, which a Job of that version runs', () => {
    const jobs = jobPods(objects, 'migration');
    expect(jobs).toHaveLength(serviceNames.length);
    for (const { name, containers, initContainers } of servicePods(objects)) {
      const { image } = containers[0]!;
      expect(initContainers.map((container) => [container.image, container.command])).toEqual([
        [image, ['node', 'packages/messaging/src/schema/await-migrations.ts', name]],
      ]);
      const own = jobs.filter((job) => job.name === `migrate-${name}`);
      expect(own.map((job) => [job.containers[0]!.image, job.containers[0]!.command])).toEqual([
        [image, ['node', 'packages/messaging/src/schema/migrate.ts', name]],
      ]);
    }
  });

  test('that migrate have the time that docs/upgrading.md promises: ten minutes a try for a lock, hours for an index', () => {
    for (const { name } of jobPods(objects, 'migration')) {
      const { backoffLimit, activeDeadlineSeconds } = specOf<JobSpec>(objects, 'Job', name);
      expect(activeDeadlineSeconds).toBeGreaterThanOrEqual((backoffLimit + 1) * LOCK_RETRIES_SECONDS);
      expect(activeDeadlineSeconds).toBeGreaterThanOrEqual(4 * 3600);
    }
  });
});

type JobSpec = { backoffLimit: number; activeDeadlineSeconds: number };

/** Read from the sources, so that a change there fails here. */
const seconds = (path: string, name: string): number => {
  const source = readFileSync(join(repositoryRoot, path), 'utf8');
  const [, milliseconds] = new RegExp(`const ${name} = ([\\d_]+);`).exec(source) ?? [];
  if (milliseconds === undefined) throw new Error(`${path} has no ${name}`);
  return Number(milliseconds.replaceAll('_', '')) / 1000;
};
const SERVICE_STOP_SECONDS = seconds('packages/runtime/src/lifecycle.ts', 'STOP_TIMEOUT_MS');
const DATABASE_WAIT_SECONDS = seconds('packages/messaging/src/backends.ts', 'DATABASE_TIMEOUT_MS');
const LOCK_RETRIES_SECONDS = seconds('packages/postgres/src/migrations/migrate.ts', 'LOCK_RETRIES_MS');
const READY_TIMEOUT_SECONDS = seconds('packages/http/src/server/probes.ts', 'READY_TIMEOUT_MS');
/** proxy_read_timeout: the longest time that nginx waits for the answer to a forwarded request. */
const EDGE_STOP_SECONDS = 30;
