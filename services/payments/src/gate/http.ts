import { ReadGate, ReadLimits, ApplyWebhookChoice } from '@quittance/contracts/http/payments/gate.ts';
import { ServiceUnavailable } from '@quittance/http/client/client.ts';
import { HttpError, unavailable } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { DeadlineExceeded, withTimeout } from '@quittance/runtime/concurrency/deadline.ts';
import { creationBlockReason, limitsRecord } from './limits.ts';
import type { AccessRefresh } from './refresh.ts';
import { readGate, markWebhookConfigured } from './gate.sql.ts';
import { findProvenWallets } from '../wallets/proof.sql.ts';
import type { TransactAdmitted } from './admission.ts';

/** A quota service that hangs must not make the record unavailable: the gateway waits 1.5 s for the whole call. */
const REFRESH_TIMEOUT_MS = 700;

/**
 * The merchant's gate: as limits for the merchant, and as stored for the operator, who waits for a restriction to take effect. Both read
 * the row that creation locks, so a merchant sees its own last creation counted.
 */
export function limitsRoutes({ db, refresh }: { db: Queryable; refresh: AccessRefresh }): Route[] {
  return [
    callRoute(ReadLimits, async ({ params }) => {
      const gate = await readNewest(db, refresh, params.merchant_id);
      if (gate === null) throw unavailable(new Error('quota does not know the merchant yet'));
      return limitsRecord(gate.policy, gate.usage, gate.now);
    }),
    callRoute(ReadGate, async ({ params }) => {
      const gate = await readGate(db, params.merchant_id);
      if (gate === null) throw new HttpError(404, 'Merchant not found');
      const proven = await findProvenWallets(db, params.merchant_id);
      return { ...gate.policy, webhook_ok: gate.webhookOk, ...gate.usage, proven_wallets: proven };
    }),
  ];
}

/**
 * Creation asks quota before it refuses. This does the same, or the record would show a refusal that creation does not make.
 * @returns null for a merchant that quota does not know either.
 * @throws ServiceUnavailable when no policy is stored and quota does not answer. With a stored policy no answer is needed.
 */
async function readNewest(db: Queryable, refresh: AccessRefresh, merchantId: string): ReturnType<typeof readGate> {
  const stored = await readGate(db, merchantId);
  if (stored === null) return (await refresh.policy(merchantId)) ? readGate(db, merchantId) : null;
  if (creationBlockReason(stored.policy, stored.usage, stored.now) === null) return stored;
  try {
    await withTimeout(REFRESH_TIMEOUT_MS, refresh.policy(merchantId));
  } catch (error) {
    if (error instanceof ServiceUnavailable || error instanceof DeadlineExceeded) return stored;
    throw error;
  }
  return readGate(db, merchantId);
}

/** Stores a merchant's new choice of events; the message about it brings the same. */
export const webhookChoiceRoute = ({ transact }: { transact: TransactAdmitted }): Route =>
  callRoute(ApplyWebhookChoice, async ({ params: { merchant_id: merchantId }, body: choice }) => {
    await transact(merchantId, (tx) => markWebhookConfigured(tx, merchantId, choice));
    return {};
  });
