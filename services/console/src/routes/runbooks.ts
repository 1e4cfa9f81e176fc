import { HttpError } from '@quittance/http/errors.ts';
import { pathParameter, type Route } from '@quittance/http/server/route.ts';
import { runbookPage } from '../pages/runbook.ts';
import type { Runbooks } from '../runbooks/runbooks.ts';
import { pageRoute, type Context } from './page-route.ts';

/** What to do, to be read where it is needed. */
export function runbookRoutes(context: Context, runbooks: Runbooks): Route[] {
  const shown = (name: string) => {
    const page = runbooks.page(name);
    if (page === null) throw new HttpError(404, 'Runbook not found');
    return Promise.resolve({ title: page.title, content: runbookPage(page) });
  };
  return [
    pageRoute(context, '/runbooks', () => shown('')),
    pageRoute(context, '/runbooks/:name', ({ request }) => shown(pathParameter(request.params, 'name'))),
  ];
}
