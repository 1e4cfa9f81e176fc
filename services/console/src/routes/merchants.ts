import { html } from '@quittance/checkout-page/html.ts';
import { ListApiKeys } from '@quittance/contracts/http/api-gateway/api-keys.ts';
import {
  BlockMerchant,
  ListMerchants,
  ReadMerchant,
  ReadMerchantAudit,
  UnblockMerchant,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { ReadLimits } from '@quittance/contracts/http/payments/limits.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { ReadPolicyAudit } from '@quittance/contracts/http/quota/history.ts';
import { ActivateBeta, PauseCreation, ResumeCreation } from '@quittance/contracts/http/quota/policy.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import {
  changesTable,
  keysTable,
  limitsFacts,
  merchantFacts,
  merchantsTable,
  nameForm,
  ownPaymentsTable,
} from '../pages/merchants.ts';
import { show } from '../pages/parts.ts';
import { lanesTable } from '../pages/webhooks.ts';
import { textIn } from '../session/form.ts';
import { partOf } from '../upstream/services.ts';
import { actionRoute, pageRoute, type Context, type Visit } from './page-route.ts';

/** What can be done to a merchant here, by the last segment of its address. */
const merchantActions = {
  activate: { call: ActivateBeta, label: 'Start the beta', question: 'Start the beta now?' },
  pause: { call: PauseCreation, label: 'Pause', question: 'Stop new payments? Everything else goes on.' },
  resume: { call: ResumeCreation, label: 'Resume', question: 'Allow new payments again?' },
  block: {
    call: BlockMerchant,
    label: 'Block',
    question: 'Lock the account? Its API key answers 401 and its webhooks are held; open payments are still settled.',
  },
  unblock: { call: UnblockMerchant, label: 'Unblock', question: 'Open the account again?' },
} as const;

export const merchantRoutes = (context: Context): Route[] => [
  pageRoute(context, '/merchants', async ({ request, services }) => {
    const name = (request.query.get('name') ?? '').trim();
    const before = request.query.get('before') ?? undefined;
    const { merchants } = await services.call(ListMerchants, { query: { before, name: name || undefined } });
    return { title: 'Merchants', content: html`${nameForm(name)} ${merchantsTable(merchants, name)}` };
  }),
  pageRoute(context, '/merchants/:merchant_id', showMerchant),
  pageRoute(context, '/merchants/:merchant_id/:action', async ({ request, services, viewer }) => {
    const { id, action, name } = actionIn(request);
    const merchant = await services.call(ReadMerchant, { params: { merchant_id: id } });
    return {
      title: `${action.label}: ${merchant.name}`,
      content: confirmation(viewer, {
        question: html`${action.question}`,
        action: `/merchants/${id}/${name}`,
        label: action.label,
        back: `/merchants/${id}`,
      }),
    };
  }),
  actionRoute(context, '/merchants/:merchant_id/:action', async ({ request, services, viewer }, form) => {
    const { id, action } = actionIn(request);
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    await services.call(action.call as typeof PauseCreation, { params: { merchant_id: id }, author });
    return `/merchants/${id}`;
  }),
];

async function showMerchant({ request, services, viewer }: Visit) {
  const id = merchantIdIn(request);
  const given = { params: { merchant_id: id } };
  const merchant = await services.call(ReadMerchant, given);
  const [limits, keys, lanes, payments, changes, policy] = await Promise.all([
    partOf(services.call(ReadLimits, given)),
    partOf(services.call(ListApiKeys, given)),
    partOf(services.call(ListLanes, { query: { merchant_id: id } })),
    partOf(services.call(ListPayments, given)),
    partOf(services.call(ReadMerchantAudit, given)),
    partOf(services.call(ReadPolicyAudit, given)),
  ]);
  return {
    title: merchant.name,
    content: html`${merchantFacts(merchant, viewer)} ${show(limits, limitsFacts)} ${show(keys, keysTable)}
    ${show(lanes, (known) => lanesTable('Webhooks', known))} ${show(payments, ownPaymentsTable)}
    ${show(changes, ({ entries }) => changesTable('Changes of the account', entries))}
    ${show(policy, ({ changes: made }) =>
      changesTable(
        'Changes of what it may do',
        made.map(({ changed_at: at, ...change }) => ({ at, ...change })),
      ),
    )}`,
  };
}

/** @throws HttpError 404. */
export function merchantIdIn({ params }: Visit['request']): string {
  const id = pathParameter(params, 'merchant_id');
  if (!isId('mer', id)) throw new HttpError(404, 'Merchant not found');
  return id;
}

/** @throws HttpError 404. */
function actionIn(request: Visit['request']) {
  const name = pathParameter(request.params, 'action');
  if (!Object.hasOwn(merchantActions, name)) throw new HttpError(404, 'Not found');
  return { id: merchantIdIn(request), name, action: merchantActions[name as keyof typeof merchantActions] };
}
