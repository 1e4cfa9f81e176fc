import { html } from '@quittance/checkout-page/html.ts';
import { ReadOperatorAudit } from '@quittance/contracts/http/api-gateway/operators.ts';
import type { Route } from '@quittance/http/server/route.ts';
import { operatorAuditTable } from '../pages/operators.ts';
import { pageRoute, type Context } from './page-route.ts';

/** What was done to accounts of operators, and who signed in or tried to. For those who may change accounts. */
export const operatorRoutes = (context: Context): Route[] => [
  pageRoute(context, '/operators', async ({ request, services }) => {
    const before = request.query.get('before') ?? undefined;
    const only = request.query.get('only') === 'changes' ? 'changes' : undefined;
    const { entries } = await services.call(ReadOperatorAudit, { query: { before, only } });
    return { title: 'Operators', content: html`${operatorAuditTable(entries, only)}` };
  }),
];
