import { POSTGRES, PRIVATE_TARGETS, RABBITMQ } from './conditions.ts';
import { entry, hole, itemsIf, lines, literal } from './holes.ts';
import { mapStrings, type KubernetesObject, type Template } from './objects.ts';
import { fillPod } from './pods.ts';

/** Secrets whose names the values may change. */
const secrets = [
  'api-gateway',
  'payments',
  'chain-watcher',
  'webhook-dispatcher',
  'quota',
  'notifier',
  'operator',
  'broker',
];
const secretName = (name: string): string => hole(`index .Values.secrets.names "${name}"`);

const namespaces: Record<string, string> = {
  monitoring: 'monitoring',
  ingress: 'ingress',
  'cnpg-system': 'postgresOperator',
  'rabbitmq-system': 'rabbitmqOperator',
};

/** Groups of alerts on metrics that only the operators' pods have. */
const groupsOfBackends: Record<string, string> = {
  'quittance-rabbitmq': RABBITMQ,
  'quittance-postgresql': POSTGRES,
};

/** What each kind gets from the chart's values. A function changes the object. */
const byKind: Record<string, (object: KubernetesObject) => void> = {
  Deployment: ({ metadata: { name }, spec }) => {
    const deployment = spec as { replicas?: unknown; template: Template };
    const replicas = `index .Values.replicas "${name}"`;
    if ('replicas' in deployment) deployment.replicas = hole(replicas);
    else
      Object.assign(
        deployment,
        entry(`{{- if not .Values.autoscaling.enabled }}\nreplicas: {{ ${replicas} }}\n{{- end }}`),
      );
    fillPod(name, deployment.template);
  },
  Job: ({ metadata: { name }, spec }) =>
    fillPod(name === 'prepare-broker' ? 'broker' : name, (spec as { template: Template }).template),
  CronJob: ({ metadata: { name }, spec }) =>
    fillPod(name, (spec as { jobTemplate: { spec: { template: Template } } }).jobTemplate.spec.template),
  HorizontalPodAutoscaler: ({ metadata: { name }, spec }) => {
    Object.assign(spec as object, {
      minReplicas: hole(`index .Values.replicas "${name}"`),
      maxReplicas: hole(`index .Values.autoscaling.maxReplicas "${name}"`),
    });
  },
  ScaledObject: ({ metadata: { name }, spec }) => {
    const scaled = spec as { triggers: { type: string; metadata: { serverAddress?: string; query?: string } }[] };
    Object.assign(scaled, {
      minReplicaCount: hole(`index .Values.replicas "${name}"`),
      maxReplicaCount: hole(`index .Values.autoscaling.maxReplicas "${name}"`),
    });
    for (const { type, metadata } of scaled.triggers) {
      if (type !== 'prometheus') continue;
      metadata.serverAddress = hole('.Values.autoscaling.keda.prometheus');
      metadata.query = (metadata.query ?? '').replace('"quittance"', `"${hole('.Release.Namespace')}"`);
    }
  },
  PriorityClass: ({ metadata }) => (metadata.name = hole('.Values.priorityClass.name')),
  PodMonitor: addMonitoringLabels,
  PrometheusRule: (object) => {
    addMonitoringLabels(object);
    const rules = object.spec as { groups: { name: string }[] };
    rules.groups = rules.groups.flatMap((group) => {
      const backend = groupsOfBackends[group.name];
      return backend === undefined ? [group] : itemsIf(backend, group);
    }) as typeof rules.groups;
  },
  ConfigMap: ({ metadata }) => {
    if (metadata.name !== 'dashboards') return;
    const own = (key: string) => `{{- with .Values.dashboards.${key} }}{{ toYaml . | nindent INDENT }}{{ end }}`;
    metadata.labels = { ...metadata.labels, ...entry(own('labels')) };
    metadata.annotations = entry(own('annotations'));
  },
  Ingress: ({ metadata, spec }) => {
    const own = '{{- with .Values.ingress.annotations }}{{ toYaml . | nindent INDENT }}{{ end }}';
    const wave = 'argocd.argoproj.io/sync-wave';
    metadata.annotations = { [wave]: metadata.annotations?.[wave], ...entry(own) };
    const ingress = spec as { ingressClassName: string; tls: { secretName: string }[] };
    ingress.ingressClassName = hole('.Values.ingress.className');
    for (const tls of ingress.tls) tls.secretName = hole('.Values.ingress.tlsSecret');
  },
  HTTPRoute: ({ spec }) => {
    const route = spec as Record<string, unknown>;
    delete route['parentRefs'];
    Object.assign(route, entry('parentRefs:\n  {{- toYaml .Values.gateway.parentRefs | nindent INDENT }}'));
  },
  ExternalSecret: ({ spec }) => {
    const external = spec as { secretStoreRef: object; target: { name: string }; refreshInterval: string };
    external.secretStoreRef = {
      kind: hole('.Values.externalSecrets.store.kind'),
      name: hole('.Values.externalSecrets.store.name'),
    };
    if (secrets.includes(external.target.name)) external.target.name = secretName(external.target.name);
  },
  NetworkPolicy: fillPolicy,
};

/** A copy of the object with holes where the chart's values decide. */
export function fill(original: KubernetesObject): KubernetesObject {
  const object = fillNames(
    mapStrings(original, (text, key) => fillString(text, key, original.kind)),
  ) as KubernetesObject;
  delete object.metadata.namespace;
  // RabbitMQ's operator passes labels on to its pods, which a label with the chart's version would restart in every upgrade.
  if (object.kind !== 'RabbitmqCluster')
    object.metadata.labels = {
      // As every overlay adds it.
      'app.kubernetes.io/part-of': 'quittance',
      ...object.metadata.labels,
      ...entry('{{- include "quittance.labels" . | nindent INDENT }}'),
    };
  byKind[object.kind]?.(object);
  return object;
}

function addMonitoringLabels({ metadata }: KubernetesObject): void {
  const own = entry('{{- with .Values.monitoring.labels }}{{ toYaml . | nindent INDENT }}{{ end }}');
  metadata.labels = { ...metadata.labels, ...own };
}

const PRIVATE_EGRESS = [
  `{{- range ${PRIVATE_TARGETS} }}`,
  '- to:',
  '    - ipBlock: { cidr: {{ .address }}/{{ ternary 128 32 (contains ":" .address) }} }',
  '  ports: [{ protocol: TCP, port: {{ .port }} }]',
  '{{- end }}',
].join('\n');

function fillPolicy({ metadata: { name }, spec }: KubernetesObject): void {
  const policy = spec as { egress: { to: unknown; ports: { port: unknown }[] }[] };
  if (name === 'to-backends') {
    const [postgres, rabbitmq] = policy.egress;
    policy.egress = [...itemsIf(POSTGRES, postgres), ...itemsIf(RABBITMQ, rabbitmq)] as typeof policy.egress;
  }
  if (name === 'operator') {
    const [services, rabbitmq] = policy.egress;
    policy.egress = [services, ...itemsIf(RABBITMQ, rabbitmq)] as typeof policy.egress;
  }
  if (name === 'to-collector') {
    const [to] = (policy.egress[0]?.to ?? []) as { namespaceSelector: object; podSelector: object }[];
    const namespace = { 'kubernetes.io/metadata.name': hole('.Values.otlp.namespace') };
    const podSelector = { matchLabels: entry('{{- toYaml .Values.otlp.podLabels | nindent INDENT }}') };
    const port = { protocol: 'TCP', port: hole('.Values.otlp.port') };
    policy.egress = [{ to: [{ ...to, namespaceSelector: { matchLabels: namespace }, podSelector }], ports: [port] }];
  }
  if (name === 'to-private-webhook-targets') Object.assign(spec as object, { egress: [lines(PRIVATE_EGRESS)] });
  const [, backend] = /^to-external-(postgres|rabbitmq)$/.exec(name) ?? [];
  if (backend === undefined) return;
  const [rule] = policy.egress;
  const addresses = `to:\n  {{- range .Values.${backend}.addresses }}\n  - ipBlock: { cidr: {{ . }} }\n  {{- end }}`;
  const [port] = rule?.ports ?? [];
  policy.egress = [{ ports: [{ ...port, port: hole(`.Values.${backend}.port`) }], ...entry(addresses) } as never];
}

/** Names of Secrets that are given as an object, and of the authority of PostgreSQL. */
function fillNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fillNames);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, field]) => {
    const { name = '' } = (field ?? {}) as { name?: string };
    const isOurs = (key === 'secretRef' || key === 'secretKeyRef') && secrets.includes(name);
    if (isOurs) return [key, { ...(field as object), name: secretName(name) }];
    if (key === 'secretName' && field === 'postgres-ca') return [key, hole('.Values.postgres.caSecret')];
    return [key, fillNames(field)];
  });
  return Object.fromEntries(entries) as unknown;
}

function fillString(text: string, key: string, kind: string): string {
  const [, image] = /^registry\.example\.com\/quittance\/([a-z-]+):[^:]+$/.exec(text) ?? [];
  if (image !== undefined) return hole(`include "quittance.image" (list . "${image}")`);
  // In the files of components.
  if (key === 'image' && text.startsWith('quittance/'))
    return hole(`include "quittance.image" (list . "${text.replace('quittance/', '')}")`);
  if (key === 'image' && text.startsWith('nginx:')) return hole('.Values.image.nginx');
  if (key === 'clusterIP' && text !== 'None') return hole('.Values.notices.address');
  if (text === 'pay.example.com') return hole('.Values.host');
  if (key === 'kubernetes.io/metadata.name' && text in namespaces)
    return hole(`.Values.namespaces.${namespaces[text]}`);
  if (kind === 'ExternalSecret') return fillExternalSecret(text, key);
  return literal(text);
}

const [postgresHost, rabbitmqUrl] = [
  [hole('.Values.postgres.host'), hole('.Values.postgres.port')].join(':'),
  // Several hosts are separated by commas, and each gets the port.
  [
    hole('.Values.rabbitmq.host | replace "," (printf ":%v," .Values.rabbitmq.port)'),
    hole('.Values.rabbitmq.port'),
  ].join(':'),
];

function fillExternalSecret(text: string, key: string): string {
  if (key === 'refreshInterval') return hole('.Values.externalSecrets.refreshInterval');
  if (key === 'key' && text.startsWith('quittance/'))
    return hole('.Values.externalSecrets.prefix') + text.replace('quittance/', '');
  return literal(text)
    .replace('@postgres-rw:5432/', `@${postgresHost}/`)
    .replace(/^amqp:(.*)@rabbitmq:5672\//, `${hole('.Values.rabbitmq.scheme')}:$1@${rabbitmqUrl}/`);
}
