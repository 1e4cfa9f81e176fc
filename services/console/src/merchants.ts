import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  ListApiKeys,
  CREATIONS_PER_MINUTE,
  ListMerchants,
  ReadMerchant,
  ReadMerchantAudit,
  type Merchant,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { ListMerchantLogins } from '@quittance/contracts/http/api-gateway/people.ts';
import { ReadPaymentsAudit, ReadWebhookAudit } from '@quittance/contracts/http/audit.ts';
import { ReadGate, ReadLimits } from '@quittance/contracts/http/payments/gate.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { ListWallets } from '@quittance/contracts/http/payments/wallets.ts';
import { ReadPolicyAudit, ReadUsage, ReadPolicy } from '@quittance/contracts/http/quota.ts';
import { ReadWebhook } from '@quittance/contracts/http/webhook-dispatcher/endpoint.ts';
import { ListFailedEvents } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { mayCall } from '@quittance/contracts/principal.ts';
import type { WebhookSettings } from '@quittance/contracts/webhook.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { merchantId } from '@quittance/operator/field.ts';
import { keysTable, loginsTable } from '@quittance/operator/keys-and-logins.ts';
import { accessFields, enforcedText, usageFields } from '@quittance/operator/access.ts';
import * as rows from '@quittance/operator/merchants.ts';
import { paymentsTable } from '@quittance/operator/payments.ts';
import { PAGE } from '@quittance/operator/row.ts';
import { rows as allRows } from '@quittance/operator/table.ts';
import { badge, facts, table, type Part, type View } from '@quittance/operator/view.ts';
import { lanesTable } from '@quittance/operator/webhooks.ts';
import { actionRoutes, actionsAt } from './action.ts';
import { actionList } from './actions.ts';
import { filterForm, searchField } from './filter.ts';
import type { Viewer } from './frame.ts';
import { inPath, pageRoute, type Context } from './page-route.ts';
import { knownOr, partOf, type Services } from './services.ts';
import { olderLink, render, show } from './view.ts';

const ACTIONS = '/merchants/:merchant_id/:action';
/** What can be done to a merchant here. The services decide who may. */
export const accountRows = allRows.filter(({ page }) => /^\/merchants\/:merchant_id\/[^/]+$/.test(page?.path ?? ''));

const USAGE_DAYS = 14;

export const merchantRoutes = (context: Context): Route[] => [
  pageRoute(context, '/merchants', async ({ request, services, viewer }) => {
    const name = (request.query.get('name') ?? '').trim();
    const before = request.query.get('before') ?? undefined;
    const { merchants } = await services.call(ListMerchants, { query: { before, name: name || undefined } });
    const last = merchants.at(PAGE - 1)?.merchant_id;
    const older = new URLSearchParams({ ...(name !== '' && { name }), before: last ?? '' });
    return {
      title: 'Merchants',
      content: html`${actionList(['merchant create'], {}, viewer)} ${nameForm(name)}
      ${render(rows.merchantsView(merchants), viewer, 'Newest first')}
      ${olderLink(last === undefined ? null : `/merchants?${older.toString()}`)}`,
    };
  }),
  // Before the pages of merchants, whose ids begin with mer_.
  ...actionRoutes(context, rows.createMerchant),
  pageRoute(context, '/merchants/:merchant_id', async ({ request, services, viewer }) => {
    const id = inPath(request, 'merchant_id', merchantId, 'Merchant not found');
    const merchant = await services.call(ReadMerchant, { params: { merchant_id: id } });
    return { title: merchant.name, content: await accountPage(merchant, services, viewer) };
  }),
  ...actionsAt(context, ACTIONS, accountRows),
];

const nameForm = (name: string): Html => filterForm('/merchants', [searchField('name', 'Part of a name', name)]);

/**
 * What can be done now. While the policy is not known, everything is offered that it decides about: the services refuse what cannot be done.
 * A key is revoked where it is listed.
 */
function actionsFor({ merchant_id, status }: Merchant, policy: AccessPolicy | null, viewer: Viewer): Html {
  const isNow: Record<string, boolean> = {
    'merchant block': status === 'active',
    'merchant unblock': status !== 'active',
    'merchant key revoke': false,
    ...(policy !== null && {
      'merchant activate': policy.access_type === 'beta' && policy.beta_started_at === null,
      'merchant extend': policy.access_type === 'beta' && policy.beta_started_at !== null,
      'merchant move-to-beta': policy.access_type === 'legacy',
      'merchant pause': !policy.creation_paused,
      'merchant resume': policy.creation_paused,
    }),
  };
  const commands = accountRows.map(({ command }) => command).filter((command) => isNow[command] !== false);
  return actionList(commands, { merchant_id }, viewer);
}

/** Everything about one merchant, from five services. If one does not answer, its part is missing and the rest is shown. */
async function accountPage(merchant: Merchant, services: Services, viewer: Viewer): Promise<Html> {
  const ofMerchant = { merchant_id: merchant.merchant_id };
  const given = { params: ofMerchant };
  const [access, limits, usage, keys, logins, wallets, webhook, lanes, payments, audits] = await Promise.all([
    // Both are null until the registration has reached them.
    partOf(
      Promise.all([knownOr(null, services.call(ReadPolicy, given)), knownOr(null, services.call(ReadGate, given))]),
    ),
    partOf(services.call(ReadLimits, given)),
    partOf(knownOr({ days: [] }, services.call(ReadUsage, given))),
    partOf(services.call(ListApiKeys, given)),
    mayCall(viewer, ListMerchantLogins.access) ? partOf(services.call(ListMerchantLogins, given)) : null,
    partOf(services.call(ListWallets, given)),
    partOf(
      Promise.all([
        knownOr(null, services.call(ReadWebhook, given)),
        services.call(ListFailedEvents, { query: { status: 'failed', ...ofMerchant } }),
      ]),
    ),
    partOf(services.call(ListLanes, { query: ofMerchant })),
    partOf(services.call(ListPayments, given)),
    auditsOf(services, given, viewer),
  ]);
  const shown = (view: View): Html => render(view, viewer);
  const policyNow = 'value' in access ? access.value[0] : null;
  return html`${actionsFor(merchant, policyNow, viewer)} ${shown([accountFacts(merchant)])}
  ${show(access, ([policy, gate]) =>
    policy === null
      ? html``
      : shown([
          facts({ ...accessFields(policy), ...(gate && { enforced: enforcedText(policy, gate) }) }, 'what it may do'),
        ]),
  )}
  ${show(limits, (own) => shown([facts(usageFields(own), 'usage')]))}
  ${show(usage, ({ days }) => shown([rows.usageTable(days.slice(0, USAGE_DAYS), 'payments created by day')]))}
  ${show(keys, ({ keys: all }) => shown([keysTable(merchant.merchant_id, all, 'API keys')]))}
  ${logins === null ? [] : show(logins, ({ logins: all }) => shown([loginsTable(merchant.merchant_id, all, 'logins')]))}
  ${show(wallets, ({ wallets: all }) =>
    shown([
      table(
        'wallets',
        all,
        { wallet: 'address', since: 'bound_at', proven: 'proven_at' },
        'No wallet has been used yet.',
      ),
    ]),
  )}
  ${show(webhook, ([settings, { total }]) => shown([webhookFacts(settings, total)]))}
  ${show(lanes, ({ lanes: own }) => shown([lanesTable(own, 'its queue of events')]))}
  ${show(payments, ({ payments: newest }) => shown([paymentsTable(newest, 'newest payments')]))} ${audits}`;
}

const accountFacts = (merchant: Merchant): Part =>
  facts({
    merchant: merchant.merchant_id,
    transfers: { to: `/merchants/${merchant.merchant_id}/transfers`, label: 'Unmatched transfers' },
    'customers see': merchant.display_name,
    account: badge(merchant.status),
    'creations a minute': String(merchant.creations_per_minute ?? CREATIONS_PER_MINUTE),
    registered: merchant.created_at,
    'last request': merchant.last_request_at,
  });

/** Of the URL the host alone: the rest may hold a secret of the merchant's. */
const webhookFacts = (webhook: WebhookSettings | null, failed: number): Part =>
  facts(
    webhook === null
      ? { webhook: 'not configured: creation answers 409 until it is' }
      : {
          webhook: URL.parse(webhook.url)?.host ?? null,
          events: webhook.events.join(', '),
          'signing key': webhook.key_id,
          'configured, or last changed': webhook.updated_at,
          'failed events': failed,
        },
    'webhook',
  );

/** Four services keep an audit each, in the transaction of what it is about. */
async function auditsOf(
  services: Services,
  given: { params: { merchant_id: string } },
  viewer: Viewer,
): Promise<Html[]> {
  const policy = async () => (await knownOr({ changes: [] }, services.call(ReadPolicyAudit, given))).changes;
  const lists = {
    'changes of the account': services.call(ReadMerchantAudit, given).then(({ entries }) => entries),
    'changes of what it may do': policy().then((all) =>
      all.map(({ changed_at: at, ...change }) => ({ at, ...change })),
    ),
    'changes of its wallets and payments': services.call(ReadPaymentsAudit, given).then(({ entries }) => entries),
    'changes of its webhook and events': services
      .call(ReadWebhookAudit, given)
      .then(({ entries }) => entries.map(rows.auditOfWebhook)),
  };
  return Promise.all(
    Object.entries(lists).map(async ([title, list]) =>
      show(await partOf(list), (entries) => render([rows.auditTable(entries, title)], viewer)),
    ),
  );
}
