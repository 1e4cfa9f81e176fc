import type { TransactAdmitted } from './admission.ts';
import type { Owners } from '../clients.ts';
import { applyPolicy, markWebhookConfigured } from './gate.sql.ts';

export type AccessRefresh = ReturnType<typeof createAccessRefresh>;

/**
 * Messages about other services' decisions arrive with a delay. Before payments refuses because of one, it asks the service that owns the
 * decision and stores the answer, which waits for the merchant's gate like a creation. Never call it inside a transaction.
 * @returns (each) false when the owner has nothing that would change the decision, so there is no point in deciding again.
 * @throws (each) ServiceUnavailable when the owner does not answer.
 */
export function createAccessRefresh({ owners, transact }: { owners: Owners; transact: TransactAdmitted }) {
  return {
    async policy(merchantId: string): Promise<boolean> {
      const policy = await owners.policy(merchantId);
      if (policy === null) return false;
      // True even if this version is already stored: it may have arrived after the refusal.
      await transact(merchantId, (tx) => applyPolicy(tx, policy));
      return true;
    },
    async webhook(merchantId: string): Promise<boolean> {
      const choice = await owners.webhookChoice(merchantId);
      if (choice === null) return false;
      await transact(merchantId, (tx) => markWebhookConfigured(tx, merchantId, choice));
      return true;
    },
  };
}
