import type { KubernetesObject } from './objects.ts';

export const POSTGRES = '.Values.postgres.operator';
export const RABBITMQ = '.Values.rabbitmq.operator';
export const OTLP = '.Values.otlp.enabled';
export const PRIVATE_TARGETS = '.Values.privateWebhookTargets.targets';
export const NOTICES = '.Values.notices.enabled';
export const PRIVATE_AUTHORITY = '.Values.privateWebhookTargets.ca';
const EITHER = `(or ${POSTGRES} ${RABBITMQ})`;

/** Which objects the chart renders only under a condition, by their kind and name. All conditions of an object must hold. */
const conditions: readonly (readonly [kind: RegExp, name: RegExp, condition: string])[] = [
  [/^(Cluster|ScheduledBackup|ObjectStore)$/, /./, POSTGRES],
  [/^(RabbitmqCluster|Vhost|User|Permission|TopicPermission)$/, /./, RABBITMQ],
  [/^ExternalSecret$/, /./, '.Values.externalSecrets.enabled'],
  [/^ExternalSecret$/, /^postgres-/, POSTGRES],
  [/^ExternalSecret$/, /^rabbitmq-user-/, RABBITMQ],
  [/^ConfigMap$/, /^postgres-schemas$/, POSTGRES],
  [/^ConfigMap$/, /^dashboards$/, '.Values.dashboards.enabled'],
  [/^ConfigMap$/, /^private-targets-ca$/, PRIVATE_AUTHORITY],
  [/^ConfigMap$/, /^(notifier-settings|notices-ca)$/, NOTICES],
  [/^(Deployment|Service|ServiceAccount|NetworkPolicy)$/, /^(|to-|webhooks-to-)notifier$/, NOTICES],
  [/^NetworkPolicy$/, /^notifier-to-postgres$/, NOTICES],
  [/^NetworkPolicy$/, /^notifier-to-postgres$/, POSTGRES],
  [/^PodDisruptionBudget$/, /^rabbitmq$/, RABBITMQ],
  [/^NetworkPolicy$/, /^(postgres|postgres-cluster|migrations-to-postgres)$/, POSTGRES],
  [/^NetworkPolicy$/, /^(rabbitmq|rabbitmq-cluster|broker)$/, RABBITMQ],
  [/^NetworkPolicy$/, /^to-backends$/, EITHER],
  [/^NetworkPolicy$/, /^to-external-postgres$/, `(not ${POSTGRES})`],
  [/^NetworkPolicy$/, /^to-external-rabbitmq$/, `(not ${RABBITMQ})`],
  [/^NetworkPolicy$/, /^to-collector$/, OTLP],
  [/^NetworkPolicy$/, /^to-private-webhook-targets$/, PRIVATE_TARGETS],
  [/^(PodMonitor|PrometheusRule)$/, /./, '.Values.monitoring.enabled'],
  [/^PodMonitor$/, /^postgres$/, POSTGRES],
  [/^PodMonitor$/, /^rabbitmq$/, RABBITMQ],
  [/^PrometheusRule$/, /^quittance-backends$/, EITHER],
  [/^(HorizontalPodAutoscaler|ScaledObject)$/, /./, '.Values.autoscaling.enabled'],
  [/^HorizontalPodAutoscaler$/, /^webhook-dispatcher$/, '(not .Values.autoscaling.keda.enabled)'],
  [/^ScaledObject$/, /./, '.Values.autoscaling.keda.enabled'],
  [/^Ingress$/, /./, '.Values.ingress.enabled'],
  [/^HTTPRoute$/, /./, '.Values.gateway.enabled'],
  [/^PriorityClass$/, /./, '.Values.priorityClass.create'],
];

/** @returns the condition of Helm's `if`, or null for an object that is always there. */
export function conditionOf({ kind, metadata: { name } }: KubernetesObject): string | null {
  const found = conditions.filter((row) => row[0].test(kind) && row[1].test(name)).map((row) => row[2]);
  const [only = null] = found;
  return found.length > 1 ? `and ${found.join(' ')}` : only;
}
