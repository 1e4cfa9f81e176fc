import { html, type Html } from '@quittance/checkout-page/html.ts';
import { ListApiKeys } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import { ReadMerchantAudit, type Merchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { ReadPaymentsAudit } from '@quittance/contracts/http/payments/audit.ts';
import { ReadGate, ReadLimits } from '@quittance/contracts/http/payments/limits.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { ListWallets } from '@quittance/contracts/http/payments/wallets.ts';
import { ReadPolicyAudit, ReadUsage } from '@quittance/contracts/http/quota/history.ts';
import { ReadPolicy } from '@quittance/contracts/http/quota/policy.ts';
import { ReadWebhookAudit } from '@quittance/contracts/http/webhook-dispatcher/audit.ts';
import { ReadWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import {
  accountFacts,
  changesTable,
  keysTable,
  ownPaymentsTable,
  policyFacts,
  usageFacts,
  usageTable,
  walletsTable,
  webhookFacts,
} from '../pages/account.ts';
import type { Viewer } from '../pages/frame.ts';
import { show } from '../pages/parts.ts';
import { lanesTable } from '../pages/webhooks.ts';
import { knownOr, partOf, type Services } from '../upstream/services.ts';

/** Everything about one merchant, of five services at once; what is silent is missing, and the rest is there. */
export async function accountPage(
  merchant: Merchant,
  commands: Html,
  services: Services,
  viewer: Viewer,
): Promise<Html> {
  const given = { params: { merchant_id: merchant.merchant_id } };
  const ofMerchant = { merchant_id: merchant.merchant_id };
  const [access, limits, usage, keys, wallets, webhook, lanes, payments, audits] = await Promise.all([
    // Both are null until the registration has reached them.
    partOf(
      Promise.all([knownOr(null, services.call(ReadPolicy, given)), knownOr(null, services.call(ReadGate, given))]),
    ),
    partOf(services.call(ReadLimits, given)),
    partOf(knownOr({ days: [] }, services.call(ReadUsage, given))),
    partOf(services.call(ListApiKeys, given)),
    partOf(services.call(ListWallets, given)),
    partOf(
      Promise.all([
        knownOr(null, services.call(ReadWebhook, given)),
        services.call(ListFailedEvents, { query: { status: 'failed', ...ofMerchant } }),
      ]),
    ),
    partOf(services.call(ListLanes, { query: ofMerchant })),
    partOf(services.call(ListPayments, given)),
    auditsOf(services, given),
  ]);
  return html`${accountFacts(merchant)} ${commands}
  ${show(access, ([policy, gate]) => (policy === null ? html`` : policyFacts(policy, gate)))}
  ${show(limits, usageFacts)} ${show(usage, usageTable)} ${show(keys, (known) => keysTable(known, viewer))}
  ${show(wallets, walletsTable)} ${show(webhook, ([settings, { total }]) => webhookFacts(settings, total))}
  ${show(lanes, (known) => lanesTable('Its queue of events', known))} ${show(payments, ownPaymentsTable)} ${audits}`;
}

/** Four services keep an audit each, in the transaction of what it is about. */
async function auditsOf(services: Services, given: { params: { merchant_id: string } }): Promise<Html[]> {
  const [account, policy, payments, webhooks] = await Promise.all([
    partOf(services.call(ReadMerchantAudit, given)),
    partOf(knownOr({ changes: [] }, services.call(ReadPolicyAudit, given))),
    partOf(services.call(ReadPaymentsAudit, given)),
    partOf(services.call(ReadWebhookAudit, given)),
  ]);
  return [
    show(account, ({ entries }) => changesTable('Changes of the account', entries)),
    show(policy, ({ changes }) =>
      changesTable(
        'Changes of what it may do',
        changes.map(({ changed_at: at, ...change }) => ({ at, ...change })),
      ),
    ),
    show(payments, ({ entries }) => changesTable('Done to its wallets and payments', entries)),
    show(webhooks, ({ entries }) =>
      changesTable(
        'Done to its webhook and events',
        entries.map(({ event_id, ...entry }) => ({
          ...entry,
          ...{ before: null, after: event_id === null ? null : { event_id } },
        })),
      ),
    ),
  ];
}
