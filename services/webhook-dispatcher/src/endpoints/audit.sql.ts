import type { Author } from '@quittance/contracts/author.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { currentRequestId } from '@quittance/runtime/logger.ts';

/** A person, with a reason, or the merchant or the notifier without one. */
export type AuditedAuthor = Author | { actor: string; reason: null };

/** The merchant, with its API key and without a reason. */
export const byMerchant = { actor: 'merchant', reason: null } as const;

type AuditedAction = 'endpoint_configured' | 'endpoint_changed' | 'key_rotated' | 'event_retried' | 'event_recovered';

/** Call it in the transaction of the change, so that neither exists without the other. */
export async function insertAudit(
  tx: Transaction,
  entry: AuditedAuthor & {
    merchantId: string;
    eventId: string | null;
    action: AuditedAction;
    events?: readonly WebhookChoice[];
    privateTarget?: string | undefined;
  },
): Promise<void> {
  await tx.query(
    `insert into audit (merchant_id, event_id, action, actor, reason, request_id, events, private_target)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[entry.merchantId, entry.eventId, entry.action, entry.actor, entry.reason, currentRequestId() ?? null],
      ...[entry.events ?? [], entry.privateTarget ?? null],
    ],
  );
}
