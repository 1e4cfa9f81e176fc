import { checkNetwork as row } from '@quittance/operator/machinery.ts';
import { table, text, type View } from '@quittance/operator/view.ts';
import { Failure } from '../failure.ts';
import { own } from '../run.ts';
import { note, printResult } from '../text.ts';
import type { NetworkReport } from './check.ts';
import { grouped } from './finding.ts';

/** Whether a provider is good enough to depend on. */
export const networkRun = own(row, async ({ config, values, options }) => {
  // Loaded only here: the other commands need no chain library.
  const { findTargets } = await import('./target.ts');
  const { checkNetwork } = await import('./check.ts');
  const { target, url: urls, header: headers, ws_url: wsUrl, timeout, ...plan } = values;
  const given = { urls, headers, wsUrl: wsUrl ?? null, plan: withoutUndefined(plan) };
  const reports: NetworkReport[] = [];
  for (const found of findTargets(target, given, config)) {
    const { id } = found.network;
    const onProgress = (endpoint: number, what: string) => note(`${id}, endpoint ${endpoint}: ${what} …`, options);
    reports.push(await checkNetwork(found, { timeoutMs: 1000 * timeout, onProgress }));
  }
  printResult(reports, options, (all) => all.flatMap(reportView));
  const bad = reports.flatMap(({ network: id, endpoints }) =>
    endpoints.filter(({ usable }) => !usable).map(({ endpoint }) => `endpoint ${endpoint} of ${id}`),
  );
  if (bad.length > 0) throw new Failure('refused', `Do not depend on ${bad.join(' or ')}: see what failed.`);
});

type Given<T> = { [name in keyof T]?: Exclude<T[name], undefined> };

const withoutUndefined = <T extends object>(fields: T): Given<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>;

const WORDS = { ok: 'ok', warning: 'note', failed: 'FAILED', unknown: '-' } as const;

/** Each endpoint's table, what the network costs a day, and the entry to copy. */
function reportView(report: NetworkReport): View {
  const variables = Object.entries(report.variables).map(([name, what]) => ({ name, what }));
  return [
    ...report.endpoints.map(({ endpoint, usable, findings }) =>
      table(`${report.network}, endpoint ${endpoint}: ${usable ? 'can be used' : 'CANNOT BE USED'}`, findings, {
        check: 'check',
        result: ({ verdict }) => WORDS[verdict],
        found: 'found',
        means: ({ meaning }) => meaning ?? '',
      }),
    ),
    ...(report.cost.length === 0 ? [] : [costTable(report)]),
    text(JSON.stringify(report.entry, null, 2), `${report.network}, entry for the networks file`),
    ...(variables.length === 0
      ? []
      : [table('variables of chain-watcher', variables, { variable: 'name', holds: 'what' })]),
  ];
}

const costTable = ({ network, cost }: NetworkReport) =>
  table(`${network}, a day of watching`, cost, {
    endpoint: 'endpoint',
    'asked as': 'role',
    calls: ({ calls }) => grouped(calls),
    units: ({ units }) => (units === null ? null : grouped(units)),
    'most of them': 'most',
  });
