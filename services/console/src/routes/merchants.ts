import { html } from '@quittance/checkout-page/html.ts';
import { ListMerchants, ReadMerchant, type Merchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { mayCall } from '@quittance/contracts/operator.ts';
import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { commandLinks } from '../pages/account.ts';
import { confirmation, REASON_MAX } from '../pages/confirmation.ts';
import { page, type Viewer } from '../pages/frame.ts';
import { merchantsTable, nameForm } from '../pages/merchants.ts';
import { textIn } from '../session/form.ts';
import { accountCommands } from './account-commands.ts';
import { accountPage } from './account.ts';
import { actionRoute, htmlReply, pageRoute, type Context, type Visit } from './page-route.ts';

export const merchantRoutes = (context: Context): Route[] => [
  pageRoute(context, '/merchants', async ({ request, services }) => {
    const name = (request.query.get('name') ?? '').trim();
    const before = request.query.get('before') ?? undefined;
    const { merchants } = await services.call(ListMerchants, { query: { before, name: name || undefined } });
    return { title: 'Merchants', content: html`${nameForm(name)} ${merchantsTable(merchants, name)}` };
  }),
  pageRoute(context, '/merchants/:merchant_id', async ({ request, services, viewer }) => {
    const merchant = await services.call(ReadMerchant, { params: { merchant_id: merchantIdIn(request) } });
    const links = commandLinks(merchant.merchant_id, commandsFor(merchant, viewer));
    return { title: merchant.name, content: await accountPage(merchant, links, services, viewer) };
  }),
  pageRoute(context, '/merchants/:merchant_id/:action', async ({ request, services, viewer }) => {
    const { id, command, name } = commandIn(request);
    const merchant = await services.call(ReadMerchant, { params: { merchant_id: id } });
    return {
      title: `${command.label}: ${merchant.name}`,
      content: confirmation(viewer, {
        question: html`${command.question}`,
        action: `/merchants/${id}/${name}`,
        label: command.label,
        back: `/merchants/${id}`,
        more: command.fields?.(request.query) ?? [],
      }),
    };
  }),
  actionRoute(context, '/merchants/:merchant_id/:action', async ({ request, services, viewer }, form) => {
    const { id, command } = commandIn(request);
    const author = { actor: viewer.name, reason: textIn(form, 'reason', REASON_MAX) };
    const shown = await command.send(services, { params: { merchant_id: id }, author }, form);
    return shown === null ? `/merchants/${id}` : htmlReply(200, page(command.label, viewer, shown));
  }),
];

/** Blocking and unblocking exclude each other; of the rest the services say whether it can be done now. */
const commandsFor = ({ status }: Merchant, viewer: Viewer) =>
  Object.entries(accountCommands)
    .filter(([name, { access }]) => name !== (status === 'active' ? 'unblock' : 'block') && mayCall(viewer, access))
    .filter(([name]) => name !== 'revoke-key')
    .map(([name, { label }]) => ({ name, label }));

/** @throws HttpError 404. */
export function merchantIdIn({ params }: Visit['request']): string {
  const id = pathParameter(params, 'merchant_id');
  if (!isId('mer', id)) throw new HttpError(404, 'Merchant not found');
  return id;
}

/** @throws HttpError 404. */
function commandIn(request: Visit['request']) {
  const name = pathParameter(request.params, 'action');
  const command = Object.hasOwn(accountCommands, name) ? accountCommands[name] : undefined;
  if (command === undefined) throw new HttpError(404, 'Not found');
  return { id: merchantIdIn(request), name, command };
}
