/** The five services. Their names appear in messages, queue names, logs and metrics. */
export const serviceNames = ['api-gateway', 'payments', 'chain-watcher', 'webhook-dispatcher', 'quota'] as const;

export type ServiceName = (typeof serviceNames)[number];

/** The PostgreSQL schema that each service owns. */
export const schemas = {
  'api-gateway': 'gateway',
  payments: 'payments',
  'chain-watcher': 'chain',
  'webhook-dispatcher': 'webhooks',
  quota: 'quota',
} as const satisfies Record<ServiceName, string>;

/** The prefix of one service's settings when all share an environment, such as `API_GATEWAY_` for `PORT`. */
export const settingPrefix = (service: ServiceName): string => `${service.toUpperCase().replaceAll('-', '_')}_`;

/** The operator's command line, on the local stack's machine or wherever it has a key. It may do what operators may. */
export const OPS = 'ops';

/**
 * The optional service that sends notices to merchants without a backend. It is not one of `serviceNames`: it uses no
 * broker, and nothing else needs it.
 */
export const NOTIFIER = 'notifier';

/** A process that has internal calls. */
export type CallOwner = ServiceName | typeof NOTIFIER;

/** A process that makes internal calls, and signs them with its own key. */
export type Caller = CallOwner | typeof OPS;
