import { ServiceUnavailable } from '@quittance/http/client/client.ts';
import { HttpError, unavailable } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { creationLimits } from '../access.ts';
import type { AskOwner } from '../ask-owner.ts';
import { type GateReading, readGate } from '../store/gate.ts';

/** A quota that hangs must not take the record away: the gateway waits 1.5 s for all of this. */
const ASK_WITHIN_MS = 700;

/**
 * What the gate says: to the merchant as limits, to the operator (who waits for a restriction to be in force) as it stands.
 * Both read the row that creation locks, so a merchant sees its own last creation counted.
 */
export function limitsRoutes({ db, askOwner }: { db: Queryable; askOwner: AskOwner }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/internal/v1/merchants/:merchant_id/limits',
      handle: async ({ params }) => {
        const known = await readNewest(db, askOwner, pathParameter(params, 'merchant_id'));
        if (known === null) throw unavailable(new Error('quota does not know the merchant yet'));
        return { status: 200, body: creationLimits(known.policy, known.gate.usage, known) };
      },
    }),
    route({
      method: 'GET',
      path: '/internal/v1/merchants/:merchant_id/gate',
      handle: async ({ params }) => {
        const known = await readPolicyGate(db, pathParameter(params, 'merchant_id'));
        if (known === null) throw new HttpError(404, 'Merchant not found');
        return { status: 200, body: gateJson(known) };
      },
    }),
  ];
}

type PolicyGate = GateReading & { policy: NonNullable<GateReading['gate']['policy']> };

/** @returns null for a merchant whose policy was never heard. */
async function readPolicyGate(db: Queryable, merchantId: string): Promise<PolicyGate | null> {
  const found = await readGate(db, merchantId);
  const policy = found?.gate.policy ?? null;
  return found === null || policy === null ? null : { ...found, policy };
}

/**
 * Where creation would refuse, it asks the owner first; so does this, or the record would show a refusal that creation does not make.
 * @returns null for a merchant of which quota does not know either.
 * @throws ServiceUnavailable when nothing is known here and quota gives no answer. What is known needs none.
 */
async function readNewest(db: Queryable, askOwner: AskOwner, merchantId: string): Promise<PolicyGate | null> {
  const known = await readPolicyGate(db, merchantId);
  if (known === null) return (await askOwner.policy(merchantId)) ? readPolicyGate(db, merchantId) : null;
  if (known.reason === null) return known;
  try {
    await withTimeout(ASK_WITHIN_MS, askOwner.policy(merchantId));
  } catch (error) {
    if (error instanceof ServiceUnavailable || error instanceof DeadlineExceeded) return known;
    throw error;
  }
  return readPolicyGate(db, merchantId);
}

const gateJson = ({ policy, gate: { usage, webhookOk } }: PolicyGate) => ({
  ...policy,
  webhook_ok: webhookOk,
  package_base: usage.packageBase,
  used_lifetime: usage.usedLifetime,
  used_day: usage.usedDay,
  used_today: usage.usedToday,
});
