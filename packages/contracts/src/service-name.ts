/** The five services. Their names stand in messages, queue names, logs and metrics. */
export const serviceNames = ['api-gateway', 'payments', 'chain-watcher', 'webhook-dispatcher', 'quota'] as const;

export type ServiceName = (typeof serviceNames)[number];
