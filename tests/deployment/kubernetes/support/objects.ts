import { serviceNames } from '@quittance/contracts/service-name.ts';

export type Labels = Record<string, string>;

/** What all Kubernetes objects have. A caller that reads `spec` knows the kind, and the schemas have checked it. */
export type KubernetesObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Labels };
  spec?: unknown;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  value?: number;
};

type Reference = { name: string; key?: string; optional?: boolean };

export type Container = {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: Reference; configMapKeyRef?: Reference } }[];
  envFrom?: { configMapRef?: Reference; secretRef?: Reference }[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: Record<string, unknown>;
  startupProbe?: Probe;
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
};

type Probe = {
  httpGet?: { path: string; port: string };
  tcpSocket?: { port: string };
  exec?: object;
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
};

type PodSpec = {
  serviceAccountName: string;
  automountServiceAccountToken?: boolean;
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: { runAsUser?: number; runAsGroup?: number };
  topologySpreadConstraints?: { topologyKey: string; labelSelector: Selector }[];
  volumes?: { name: string; configMap?: Reference; hostPath?: object }[];
  containers: Container[];
  initContainers?: Container[];
};

export type WorkloadSpec = {
  replicas?: number;
  selector: Selector;
  strategy: { type: string; rollingUpdate: { maxUnavailable: number; maxSurge: number } };
  template: { metadata?: { labels?: Labels }; spec: PodSpec };
};

export type CronJobSpec = {
  schedule: string;
  concurrencyPolicy: string;
  jobTemplate: { spec: Pick<WorkloadSpec, 'template'> & { backoffLimit: number } };
};

export type AutoscalerSpec = {
  scaleTargetRef: { name: string };
  minReplicas: number;
  maxReplicas: number;
  metrics: { external?: { metric: { name: string } } }[];
};

export type Pod = {
  /** For example `Deployment payments`. */
  owner: string;
  kind: string;
  name: string;
  labels: Labels;
  spec: PodSpec;
  containers: Container[];
  initContainers: Container[];
};

export const ofKind = (objects: readonly KubernetesObject[], ...kinds: string[]): KubernetesObject[] =>
  objects.filter(({ kind }) => kinds.includes(kind));

export function find(objects: readonly KubernetesObject[], kind: string, name: string): KubernetesObject {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** The `spec` of one, which the caller knows to be a `T`. */
export const specOf = <T>(objects: readonly KubernetesObject[], kind: string, name: string): T =>
  find(objects, kind, name).spec as T;

/** The `spec` of all of a kind, by name. */
export const specsOf = <T>(objects: readonly KubernetesObject[], kind: string): { name: string; spec: T }[] =>
  ofKind(objects, kind).map(({ metadata: { name }, spec }) => ({ name, spec: spec as T }));

/** Every pod that the objects themselves describe, without those that operators create. */
export function podsOf(objects: readonly KubernetesObject[]): Pod[] {
  return ['Deployment', 'StatefulSet', 'Job', 'CronJob'].flatMap((kind) =>
    specsOf<WorkloadSpec | CronJobSpec>(objects, kind).map(({ name, spec: workload }) => {
      const { metadata, spec } = 'jobTemplate' in workload ? workload.jobTemplate.spec.template : workload.template;
      return {
        owner: `${kind} ${name}`,
        ...{ kind, name },
        labels: metadata?.labels ?? {},
        spec,
        containers: spec.containers,
        initContainers: spec.initContainers ?? [],
      };
    }),
  );
}

export function podOf(objects: readonly KubernetesObject[], service: string): Pod {
  const pod = podsOf(objects).find(({ kind, name }) => kind === 'Deployment' && name === service);
  if (pod === undefined) throw new Error(`there is no Deployment ${service}`);
  return pod;
}

/** The Jobs of one component, for example `migration`. */
export const jobPods = (objects: readonly KubernetesObject[], component: string): Pod[] =>
  podsOf(objects).filter(({ kind, labels }) => kind === 'Job' && labels['app.kubernetes.io/component'] === component);

export const servicePods = (objects: readonly KubernetesObject[]): Pod[] =>
  serviceNames.map((service) => podOf(objects, service));

export type Selector = {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
};

/** Whether a label selector matches these labels; an empty one matches everything. */
export function selects(selector: Selector, labels: Labels): boolean {
  const byLabels = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    byLabels &&
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return key in labels;
      if (operator !== 'In') throw new Error(`the tests know no operator ${operator}`);
      return values.includes(labels[key] ?? '');
    })
  );
}
