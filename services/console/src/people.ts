import { html, type Html } from '@quittance/checkout-page/html.ts';
import {
  LinkMerchantLogin,
  LinkOperator,
  ListOperators,
  ReadOperatorAudit,
  signInLinkPath,
  type SignInLink,
} from '@quittance/contracts/http/api-gateway/people.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { linkLogin } from '@quittance/operator/keys-and-logins.ts';
import { linkOperator, operatorAuditTable, operatorsTable } from '@quittance/operator/operators.ts';
import { olderThan, type Done } from '@quittance/operator/row.ts';
import { rowOf } from '@quittance/operator/table.ts';
import { facts } from '@quittance/operator/view.ts';
import { actionRoutes } from './action.ts';
import { actionList } from './actions.ts';
import { link } from './cell.ts';
import { pageRoute, type Context, type Visit } from './page-route.ts';
import { olderLink, render } from './view.ts';

/** Who may sign in: operators, and the people of merchants, who are listed on their merchant's page. */
export const peopleRoutes = (context: Context): Route[] => [
  pageRoute(context, '/operators', async ({ services, viewer }) => {
    const { operators } = await services.call(ListOperators);
    return {
      title: 'Operators',
      content: html`${actionList(['operator add'], {}, viewer)}
      ${render([operatorsTable(operators, 'accounts')], viewer)}`,
    };
  }),
  ...['operator add', 'operator sign-out', 'operator reset-passkeys', 'operator disable'].flatMap((command) =>
    actionRoutes(context, rowOf(command)),
  ),
  ...actionRoutes(context, linkOperator, async (visit, { name }, author) =>
    linkDone(visit, await visit.services.call(LinkOperator, { params: { name: String(name) }, author })),
  ),
  ...['merchant login role', 'merchant login reset-passkeys', 'merchant login disable'].flatMap((command) =>
    actionRoutes(context, rowOf(command)),
  ),
  ...actionRoutes(context, linkLogin, async (visit, { merchant_id: id, name }, author) => {
    const params = { merchant_id: String(id), name: String(name) };
    return linkDone(visit, await visit.services.call(LinkMerchantLogin, { params, author }));
  }),
  auditPage(context),
];

/** The address that signs in, at the host at which the operator is. */
function linkDone({ request: { headers } }: Visit, answer: SignInLink): Done {
  const origin = headers.origin ?? `https://${headers.host ?? ''}`;
  const address = `${origin}${signInLinkPath(answer.link)}`;
  const view = () => [facts({ address, 'works until': answer.ends_at })];
  return { answer, view, note: () => null, next: () => null };
}

/** What was done to accounts of operators, and who signed in or tried to. */
const auditPage = (context: Context): Route =>
  pageRoute(context, '/audit', async ({ request, services, viewer }) => {
    const before = request.query.get('before') ?? undefined;
    const only = request.query.get('only') === 'changes' ? 'changes' : undefined;
    const { entries } = await services.call(ReadOperatorAudit, { query: { before, only } });
    const next = olderThan(entries, ({ at }) => at);
    const older = next && new URLSearchParams({ ...next.options, ...(only && { only }) });
    return {
      title: 'Audit',
      content: html`<p class="quiet-text">
          Accounts of operators and sign-ins. What was done to a merchant, a payment or a wallet is on its own page.
        </p>
        ${tabs([
          ['/audit', 'All', only === undefined],
          ['/audit?only=changes', 'Only changes of accounts', only !== undefined],
        ])}
        ${render([operatorAuditTable(entries, 'audit')], viewer)} ${olderLink(older && `/audit?${older.toString()}`)}`,
    };
  });

/** Ways to look at one list. */
export const tabs = (all: readonly (readonly [path: string, name: string, isChosen: boolean])[]): Html =>
  html`<ul class="actions tabs">
    ${all.map(([path, name, isChosen]) => html`<li>${isChosen ? html`<strong>${name}</strong>` : link(path, name)}</li>`)}
  </ul>`;
