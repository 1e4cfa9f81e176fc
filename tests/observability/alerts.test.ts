import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import { readAlertRules } from '@quittance/testkit/alert-rules.ts';
import { promtool } from '@quittance/testkit/promtool.ts';
import { parse } from 'yaml';
import { observability, ruleFiles } from '../support/observability.ts';

const runbooks = new URL('../../docs/runbooks/', import.meta.url);
/** Where operators read the pages; docs/runbooks/README.md says how to change it. */
const BASE = 'https://quittance.example/runbooks/';

type TestFile = {
  rule_files: string[];
  tests: { promql_expr_test?: { expr: string }[]; alert_rule_test?: { alertname: string; exp_alerts?: unknown[] }[] }[];
};

const pathOf = (name: string): string => fileURLToPath(new URL(`alerts/${name}`, observability));
const pageOf = (file: string): string => file.replace('.rules.yaml', '.md');
const alertsOf = (file: string) => readAlertRules(new URL(`alerts/${file}`, observability));

test('there are rules', () => {
  expect(ruleFiles().length).toBeGreaterThan(6);
});

describe.each(ruleFiles())('%s', (file) => {
  const testFile = `test/${file.replace('.rules.', '.test.')}`;

  test('Prometheus takes it', async () => {
    await promtool(['check', 'rules', pathOf(file)]);
  });

  test('every alert fires in its bad case and is silent in its good one', async () => {
    await promtool(['test', 'rules', pathOf(testFile)]);
  });

  test('every alert has both cases', () => {
    const { tests, rule_files } = parse(readFileSync(pathOf(testFile), 'utf8')) as TestFile;
    expect(rule_files).toEqual([`../${file}`]);
    const fires = tests.flatMap(({ promql_expr_test = [] }) =>
      promql_expr_test.map(({ expr }) => /ALERTS\{alertname="(\w+)", alertstate="firing"\}/.exec(expr)?.[1]),
    );
    const isSilent = tests.flatMap(({ alert_rule_test = [] }) =>
      alert_rule_test.map((one) => (one.exp_alerts === undefined ? one.alertname : 'not silent')),
    );
    const alerts = alertsOf(file).map(({ alert }) => alert);
    expect([...new Set(fires)].sort()).toEqual([...alerts].sort());
    expect([...new Set(isSilent)].sort()).toEqual([...alerts].sort());
  });

  test('every alert says how urgent it is, what is wrong, and where its runbook is', () => {
    for (const { alert, labels, annotations } of alertsOf(file)) {
      expect([alert, ['critical', 'warning'].includes(labels?.['severity'] ?? '')]).toEqual([alert, true]);
      expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
      expect(annotations['runbook_url']).toBe(`${BASE}${pageOf(file)}#${alert.toLowerCase()}`);
    }
  });

  test('every alert has a runbook, in the order of the rules, and every runbook an alert', () => {
    const page = readFileSync(new URL(pageOf(file), runbooks), 'utf8');
    const sections = page.split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(alertsOf(file).map(({ alert }) => alert));
    for (const section of sections) {
      // The person on call finds the same five answers in the same order.
      const answers = [...section.matchAll(/^\*\*(.+?)\.\*\*(?: |$)/gm)].map(([, answer]) => answer);
      expect([section.split('\n')[0], answers]).toEqual([
        section.split('\n')[0],
        ['Means', 'Check', 'Do', 'Do not', 'Resolved'],
      ]);
    }
  });
});

test('there is no page without rules', () => {
  const pages = readdirSync(runbooks).filter((name) => name !== 'README.md');
  expect(pages.sort()).toEqual(ruleFiles().map(pageOf).sort());
});

describe('prometheus.yml of docker-compose.alerts.yml', () => {
  const file = fileURLToPath(new URL('prometheus.yml', observability));

  test('Prometheus takes it', async () => {
    await promtool(['check', 'config', '--syntax-only', file]);
  });

  test('asks every service, and keeps its labels', () => {
    type Job = { job_name: string; honor_labels?: boolean; static_configs: { targets: string[] }[] };
    const { scrape_configs: jobs } = parse(readFileSync(file, 'utf8')) as { scrape_configs: Job[] };
    const ours = jobs.find(({ job_name: name }) => name === 'quittance');
    expect(ours?.honor_labels).toBe(true);
    // The other lists are those of docker-compose.notices.yml and docker-compose.single.yml.
    expect(ours?.static_configs[0]?.targets.toSorted()).toEqual(serviceNames.map((name) => `${name}:8080`).toSorted());
  });
});
