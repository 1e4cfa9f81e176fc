import { WebhookConfigured } from '@quittance/contracts/messages.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import type { saveEndpoint } from './endpoint.sql.ts';

/** Publishes that a merchant has an endpoint, or another choice of events. */
export async function announce(
  tx: Transaction,
  outbox: Outbox,
  merchantId: string,
  row: Awaited<ReturnType<typeof saveEndpoint>>,
): Promise<void> {
  if (!row.isNew && !row.is_other_choice) return;
  const { created_at: configuredAt, events, version } = row;
  const message = { merchant_id: merchantId, configured_at: rfc3339(configuredAt), events, version };
  await outbox.send(tx, WebhookConfigured, message);
}
