import { CheckEvents } from '@quittance/contracts/http/webhook-dispatcher/check.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import { checkEvents } from '../store/check.ts';

/** What must always hold of events and deliveries, for operators to look at on a running system. It writes nothing. */
export const checkRoute = (db: Queryable): Route =>
  callRoute(CheckEvents, ({ query, body }) => checkEvents(db, body.payments, query.read_at ?? new Date()));
