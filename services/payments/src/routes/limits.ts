import { HttpError, unavailable } from '@quittance/http/errors.ts';
import { pathParameter, route, type Route } from '@quittance/http/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { creationLimits } from '../access.ts';
import type { AskOwner } from '../ask-owner.ts';
import { type Gate, readGate } from '../store/gate.ts';

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
        const merchantId = pathParameter(params, 'merchant_id');
        const known = (await readPolicyGate(db, merchantId)) ?? (await askAndRead(db, askOwner, merchantId));
        if (known === null) throw unavailable(new Error('quota does not know the merchant yet'));
        return { status: 200, body: creationLimits(known.policy, known.gate.usage, known.now) };
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

type PolicyGate = { policy: NonNullable<Gate['policy']>; gate: Gate; now: Date };

/** @returns null for a merchant whose policy was never heard. */
async function readPolicyGate(db: Queryable, merchantId: string): Promise<PolicyGate | null> {
  const found = await readGate(db, merchantId);
  const policy = found?.gate.policy ?? null;
  return found === null || policy === null ? null : { policy, gate: found.gate, now: found.now };
}

async function askAndRead(db: Queryable, askOwner: AskOwner, merchantId: string): Promise<PolicyGate | null> {
  return (await askOwner.policy(merchantId)) ? readPolicyGate(db, merchantId) : null;
}

const gateJson = ({ policy, gate: { usage, webhookOk } }: PolicyGate) => ({
  ...policy,
  webhook_ok: webhookOk,
  package_base: usage.packageBase,
  used_lifetime: usage.usedLifetime,
  used_day: usage.usedDay,
  used_today: usage.usedToday,
});
