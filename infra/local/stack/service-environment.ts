import type { ServiceName } from '@quittance/contracts/service-name.ts';
import type { Secrets } from './directory.ts';

/** What the services of one stack are told; everything else comes from the environment `npm start` was given. */
export type ServiceEnvironmentOptions = {
  secrets: Secrets;
  /** Database URL of a service's own role. */
  databaseUrls: Record<ServiceName, string>;
  amqpUrl: string;
  serviceUrls: Record<ServiceName, string>;
  edgeUrl: string;
  networksFile: string;
  receiverAddress: string;
  caCertificateFile: string;
  inherited: NodeJS.ProcessEnv;
};

export function serviceEnvironment(
  options: ServiceEnvironmentOptions,
  name: ServiceName,
  port: number,
): NodeJS.ProcessEnv {
  const { secrets, serviceUrls, inherited } = options;
  return {
    NODE_ENV: 'development',
    ...inherited,
    PORT: String(port),
    HOST: '127.0.0.1',
    DATABASE_URL: options.databaseUrls[name],
    AMQP_URL: options.amqpUrl,
    INTERNAL_TOKEN: secrets.internal_token,
    NETWORKS_FILE: options.networksFile,
    PUBLIC_BASE_URL: options.edgeUrl,
    API_GATEWAY_URL: serviceUrls['api-gateway'],
    PAYMENTS_URL: serviceUrls.payments,
    CHAIN_WATCHER_URL: serviceUrls['chain-watcher'],
    WEBHOOK_DISPATCHER_URL: serviceUrls['webhook-dispatcher'],
    QUOTA_URL: serviceUrls.quota,
    ...(name === 'webhook-dispatcher' && {
      WEBHOOK_ENCRYPTION_KEY: secrets.webhook_encryption_key,
      WEBHOOK_LOCAL_RECEIVER: options.receiverAddress,
      NODE_EXTRA_CA_CERTS: options.caCertificateFile,
    }),
  };
}
