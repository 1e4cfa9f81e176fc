import { ApplyWebhookChoice } from '@quittance/contracts/http/payments/webhook-choice.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { TransactAdmitted } from '../admission.ts';
import { markWebhookConfigured } from '../store/gate.ts';

/** A merchant's new choice, as the message about it also brings it. */
export const webhookChoiceRoute = ({ transact }: { transact: TransactAdmitted }): Route =>
  callRoute(ApplyWebhookChoice, async ({ params: { merchant_id: merchantId }, body: choice }) => {
    await transact(merchantId, (tx) => markWebhookConfigured(tx, merchantId, choice));
    return {};
  });
