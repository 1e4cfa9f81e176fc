import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Owners } from './clients.ts';
import { applyPolicy, noteWebhook } from './store/gate.ts';

/**
 * Messages bring what other services decided a moment later. Before payments refuses on such grounds it asks the one that decides
 * and takes over the answer. Never called inside a transaction.
 * @returns (each) false when the owner knows nothing that would permit: there is no need to decide again.
 * @throws (each) ServiceUnavailable when the owner gives no answer: then nobody can decide.
 */
export type AskOwner = {
  policy(merchantId: string): Promise<boolean>;
  webhook(merchantId: string): Promise<boolean>;
};

export function createAskOwner({ owners, db }: { owners: Owners; db: Queryable }): AskOwner {
  return {
    async policy(merchantId) {
      const policy = await owners.policy(merchantId);
      if (policy === null) return false;
      // Even if this version is known here by now, it may have come after the refusal.
      await applyPolicy(db, policy);
      return true;
    },
    async webhook(merchantId) {
      if (!(await owners.hasWebhook(merchantId))) return false;
      await noteWebhook(db, merchantId);
      return true;
    },
  };
}
