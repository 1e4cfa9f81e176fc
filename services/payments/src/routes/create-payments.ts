import {
  CreatePayments,
  type CreationOfMerchant,
  type DecidedCreation,
} from '@quittance/contracts/http/payments/payments.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { withRequestId } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { inSpan, readTraceparent, tracer } from '@quittance/runtime/tracing/tracing.ts';
import type { Creation } from '../creation/creation.ts';
import type { CreationSuccess } from '../store/new-payment.ts';
import { countOutcomes, toCreation } from './create-payment.ts';

/**
 * Called by the gateway for creations that wait there at the same moment. What is not created, whatever the reason, is left out and
 * asked singly, so that no member's refusal or failure, and no lock, concerns another one.
 */
export function createPaymentsRoute({
  create,
  networks,
  metrics,
}: {
  create: (creation: Creation) => Promise<CreationSuccess | null>;
  networks: readonly Network[];
  metrics: Metrics;
}): Route {
  const outcomes = countOutcomes(metrics);

  async function decide(creation: CreationOfMerchant): Promise<DecidedCreation[]> {
    const { merchant_id: merchantId, idempotency_key: key } = creation;
    const result = await create(toCreation(merchantId, creation, networks));
    if (result === null) return [];
    const { outcome, body } = result;
    outcomes.inc({ outcome });
    return [
      {
        merchant_id: merchantId,
        idempotency_key: key,
        replayed: outcome === 'replayed',
        body: body.toString('utf8'),
      },
    ];
  }

  return callRoute(CreatePayments, async ({ body }) => {
    const decided = await Promise.allSettled(
      body.creations.map((creation) => onItsBehalf(creation, () => decide(creation))),
    );
    return { created: decided.flatMap((result) => (result.status === 'fulfilled' ? result.value : [])) };
  });
}

/** Runs `fn` with the creation's own request id and in its own trace. */
function onItsBehalf<T>({ request_id: requestId, traceparent }: CreationOfMerchant, fn: () => Promise<T>): Promise<T> {
  const span = tracer()?.start('create payment', 'internal', { origin: { parent: readTraceparent(traceparent) } });
  return withRequestId(requestId, () => inSpan(span, fn)).finally(() => span?.end());
}
