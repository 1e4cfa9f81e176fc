import { archivePayments as archiveRow } from '@quittance/operator/machinery.ts';
import { table } from '@quittance/operator/view.ts';
import { archivePayments } from './archive/archive.ts';
import { requireFolder } from './archive/part.ts';
import { chainRuns } from './chains.ts';
import { checkRun } from './check.ts';
import { deadLetterRuns } from './dead-letters.ts';
import { incidentRuns } from './incidents.ts';
import { merchantRuns } from './merchants.ts';
import { networkRun } from './network-check/run.ts';
import { paymentRuns } from './payments.ts';
import { own, type Run } from './run.ts';
import { printResult } from './text.ts';
import { trustRuns } from './trust.ts';
import { webhookRuns } from './webhooks.ts';

/** Payments that ended long ago leave the database for files. */
const archiveRun = own(archiveRow, async (asked) => {
  const { api, values, options } = asked;
  const author = asked.author();
  await requireFolder(values.to);
  await asked.confirm();
  const parts = await archivePayments({ api, folder: values.to, before: values.before, author, keep: values.keep });
  printResult(parts, options, (written) => [
    table(null, written, {
      file: 'file',
      payments: 'payments',
      bytes: 'bytes',
      removed: ({ removed }) => removed?.payments ?? 0,
      'changed since, kept': ({ removed }) => removed?.kept ?? null,
    }),
  ]);
});

/** Commands that do more than make their row's call and show its answer. */
export const ownRuns: readonly Run[] = [
  ...merchantRuns,
  ...paymentRuns,
  ...incidentRuns,
  ...webhookRuns,
  ...deadLetterRuns,
  ...chainRuns,
  ...trustRuns,
  networkRun,
  checkRun,
  archiveRun,
];
