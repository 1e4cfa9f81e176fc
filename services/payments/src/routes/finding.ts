import type { Network } from '@quittance/contracts/networks.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { ProgressSources } from '../views/confirmations.ts';
import { exportPaymentsRoute } from './export-payments.ts';
import { findPaymentsRoute } from './find-payments.ts';
import { listPaymentsRoute } from './list-payments.ts';
import { reportRoute } from './report.ts';
import { totalsRoute } from './totals.ts';
import { unmatchedRoutes } from './unmatched.ts';

type Dependencies = {
  db: Queryable;
  operators: Queryable;
  networks: readonly Network[];
  publicBaseUrl: string;
  progress: ProgressSources;
  logger: Logger;
};

/** Many payments at once: lists, exports and reports of a merchant's, and what operators look for and count among all. */
export function findingRoutes({ db, operators, networks, publicBaseUrl, progress, logger }: Dependencies): Route[] {
  const listing = { db, networks: networks.map(({ id }) => id), publicBaseUrl, ...progress };
  return [
    listPaymentsRoute(listing),
    exportPaymentsRoute({ ...listing, logger }),
    reportRoute(db),
    findPaymentsRoute({ ...listing, db: operators }),
    totalsRoute(operators),
    ...unmatchedRoutes({ db, operators }),
  ];
}
