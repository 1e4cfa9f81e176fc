import { ARCHIVE_AFTER_DAYS, ReadArchivable, RemoveArchived } from '@quittance/contracts/http/payments/archive.ts';
import { invalid } from '@quittance/http/errors.ts';
import { callRoute } from '@quittance/http/server/call-route.ts';
import type { Route } from '@quittance/http/server/route.ts';
import type { Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import { readArchivable, removeArchived } from './archive.sql.ts';

const DAY_MS = 86_400_000;

/** What operators move out of the database after exporting it to files. */
export const archiveRoutes = ({ db, transact }: { db: Queryable; transact: Transact }): Route[] => [
  callRoute(ReadArchivable, ({ query: { before, after } }) => {
    if (before === null || before.getTime() > Date.now() - ARCHIVE_AFTER_DAYS * DAY_MS)
      throw invalid({ field: 'before', reason: `must be a time at least ${ARCHIVE_AFTER_DAYS} days ago` });
    return readArchivable(db, { before, after: after ?? '' });
  }),
  callRoute(RemoveArchived, ({ body: { payments }, author }) => transact((tx) => removeArchived(tx, payments, author))),
];
