import type { Network } from '@quittance/contracts/networks.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { createAtOnce, createPayment, type CreationContext } from '../creation/creation.ts';
import { createGroups } from '../creation/groups.ts';
import { createPaymentRoute } from './create-payment.ts';
import { createPaymentsRoute } from './create-payments.ts';

type Dependencies = Omit<CreationContext, 'decideTogether'> & {
  pool: Pool;
  networks: readonly Network[];
  logger: Logger;
  metrics: Metrics;
};

/** Both ways to ask for a payment; whichever way they came, creations that wait at the same moment share a transaction. */
export function creationRoutes({ pool, networks, logger, metrics, ...parts }: Dependencies): Route[] {
  const context = { ...parts, decideTogether: createGroups({ pool, messages: parts.messages, logger }) };
  return [
    createPaymentRoute({ create: (creation) => createPayment(context, creation), networks, metrics }),
    createPaymentsRoute({ create: (creation) => createAtOnce(context, creation), networks, metrics }),
  ];
}
