import type { NetworkReport } from '../network-check/report.ts';
import { grouped } from '../network-check/finding.ts';
import { sections, table } from '../text.ts';

const WORDS = { ok: 'ok', warning: 'note', failed: 'FAILED', unknown: '-' } as const;

/** Each endpoint's table, what the network costs a day, and the entry to copy. */
export const networkReportsView = (reports: readonly NetworkReport[]): string => reports.map(reportText).join('\n\n\n');

const reportText = (report: NetworkReport): string => {
  const endpoints = report.endpoints.map(
    ({ endpoint, usable, findings }) =>
      [
        `${report.network}, endpoint ${endpoint}: ${usable ? 'can be used' : 'CANNOT BE USED'}`,
        table(findings, {
          check: 'check',
          result: ({ verdict }) => WORDS[verdict],
          found: 'found',
          means: ({ meaning }) => meaning ?? '',
        }),
      ] as const,
  );
  const entry = JSON.stringify(report.entry, null, 2);
  const variables = Object.entries(report.variables).map(([name, what]) => ({ name, what }));
  return sections([
    ...endpoints,
    ...(report.cost.length === 0 ? [] : [[`${report.network}, a day of watching`, costText(report)] as const]),
    [`${report.network}, entry for the networks file`, entry],
    ...(variables.length === 0
      ? []
      : ([['variables of chain-watcher', table(variables, { variable: 'name', holds: 'what' })]] as const)),
  ]);
};

const costText = ({ cost }: NetworkReport): string =>
  table(cost, {
    endpoint: 'endpoint',
    'asked as': 'role',
    calls: ({ calls }) => grouped(calls),
    units: ({ units }) => (units === null ? null : grouped(units)),
    'most of them': 'most',
  });
