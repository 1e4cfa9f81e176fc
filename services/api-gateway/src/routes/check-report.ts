import { ReportCheck } from '@quittance/contracts/http/api-gateway/check-report.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { keepIncompleteCheck, keepWholeCheck } from '../store/check-report.ts';

/** Where `ops check --report` says what came of it. */
export const checkReportRoute = ({ db }: { db: Queryable }): Route =>
  callRoute(ReportCheck, async ({ body }) => ({
    kept: await (body.whole ? keepWholeCheck(db, body) : keepIncompleteCheck(db, body)),
  }));
