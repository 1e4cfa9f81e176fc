import { readdirSync, readFileSync } from 'node:fs';
import { serviceNames } from '@quittance/contracts/service-name.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { readRules, samplesIn, type Sample } from '@quittance/testkit/alert-rules.ts';
import { parse } from 'yaml';
import { dashboards } from '../../infra/observability/dashboards/source.ts';

export const observability = new URL('../../infra/observability/', import.meta.url);

/** A query for Prometheus, and where it is used. */
export type Question = { where: string; expr: string; annotations?: Record<string, string> };

/** File names of the rules, such as `payments.rules.yaml`. */
export function ruleFiles(): string[] {
  return readdirSync(new URL('alerts/', observability)).filter((name) => name.endsWith('.rules.yaml'));
}

/** The queries of alerts and recording rules. */
export function questionsOfRules(): Question[] {
  return ruleFiles().flatMap((file) =>
    readRules(new URL(`alerts/${file}`, observability)).map((rule) => ({
      ...rule,
      where: 'alert' in rule ? rule.alert : rule.record,
    })),
  );
}

/** The queries of dashboards, with Grafana's variables filled in: an interval, and any value of a variable. */
export function questionsOfDashboards(): Question[] {
  return Object.entries(dashboards).flatMap(([file, { panels, templating }]) => {
    const variables = templating.list.flatMap(({ query }) => (typeof query === 'string' ? [] : [query.query]));
    const choices = variables.map((query) => {
      const [, of = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query) ?? [];
      return { where: `${file}: ${query}`, expr: `count by (${label}) (${of})` };
    });
    const shown = panels.flatMap((panel) =>
      'targets' in panel
        ? panel.targets.map(({ expr, legendFormat }) => ({
            where: `${file}: ${panel.title}`,
            expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(service|network)\b/g, '.*'),
            annotations: { legend: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, '$labels.$1') },
          }))
        : [],
    );
    return [...choices, ...shown];
  });
}

/** The /metrics of every process of a stack. */
export async function scrape(stack: StackFile): Promise<{ service: string; text: string }[]> {
  const processes = Object.entries(stack.services).flatMap(([service, { replicas }]) =>
    replicas.map(({ url }) => ({ service, url })),
  );
  return Promise.all(
    processes.map(async ({ service, url }) => ({ service, text: await (await fetch(`${url}/metrics`)).text() })),
  );
}

export type Metric = { name: string; type: string; labels: string[]; help: string; services: string[] };

/** The table of docs/telemetry.md. */
export function documentedMetrics(): Metric[] {
  const page = readFileSync(new URL('../../docs/telemetry.md', import.meta.url), 'utf8');
  const rows = page.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\| (.*?) +\| (.*?) +\|$/gm);
  return [...rows].map(([, name = '', type = '', labels = '', help = '', shownBy = '']) => ({
    ...{ name, type, help },
    labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label),
    services: shownBy === 'all' ? [...serviceNames].sort() : shownBy.split(', '),
  }));
}

/**
 * The metrics that processes expose, without those that Node's library adds to every program. A metric without a line yet has no labels.
 */
export function shownMetrics(scraped: readonly { service: string; text: string }[]): Metric[] {
  const metrics = new Map<string, Metric>();
  for (const { service, text } of scraped) {
    const samples = samplesIn(text);
    for (const [, name = '', help = '', type = ''] of text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)) {
      if (/^(process|nodejs)_/.test(name) && name !== 'process_memory_limit_bytes') continue;
      const parts = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      const own = samples.filter((sample) => parts.some((part) => sample.name === name + part));
      const labels = own
        .flatMap((sample) => Object.keys(sample.labels))
        .filter((label) => !['service', 'le'].includes(label));
      const before = metrics.get(name) ?? { name, type, help, labels: [], services: [] };
      metrics.set(name, {
        ...before,
        labels: [...new Set([...before.labels, ...labels])].sort(),
        services: [...new Set([...before.services, service])].sort(),
      });
    }
  }
  return [...metrics.values()];
}

/**
 * Metrics that have no line on a healthy stack with a simple configuration. They need an event such as: a node fails, announces its blocks
 * or has a daily plan, a second node is asked about large transfers, a rule is broken, a receiver keeps a merchant's events waiting, the
 * sources of exchange rates are read, or the database is copied.
 */
const QUIET = [
  'backup_last_run_timestamp_seconds',
  'chain_endpoint_budget_ahead_ratio',
  'chain_endpoint_budget_used_ratio',
  'chain_look_ups_total',
  'chain_new_heads_connected',
  'chain_rpc_failures_total',
  'chain_transfers_awaiting_cross_check',
  'check_violations',
  'rate_source_age_seconds',
  'webhook_lane_backlog_deliveries',
  'webhook_lane_oldest_due_seconds',
];

/** Documented labels of a quiet metric may still be missing; everything else must be as exposed. */
export function withQuietLabels(shown: readonly Metric[], documented: readonly Metric[]): Metric[] {
  return shown.map((metric) => {
    const labels = documented.find(({ name }) => name === metric.name)?.labels ?? [];
    return QUIET.includes(metric.name) && metric.labels.length === 0 ? { ...metric, labels } : metric;
  });
}

/** What a stack exposes, what third-party exporters expose, and what Prometheus derives from both. */
export function everythingShown(scraped: readonly { service: string; text: string }[]): Sample[] {
  const own = scraped.flatMap(({ text }) => samplesIn(text));
  const quiet = withQuietLabels(shownMetrics(scraped), documentedMetrics()).flatMap(({ name, labels }) =>
    QUIET.includes(name) ? samplesOf(name, Object.fromEntries(labels.map((label) => [label, 'any']))) : [],
  );
  const catalogue = parse(readFileSync(new URL('exporters.yaml', observability), 'utf8')) as Catalogue;
  const foreign = Object.values(catalogue).flatMap((series) =>
    Object.entries(series).flatMap(([name, labels]) => samplesOf(name, labels)),
  );
  const recorded = questionsOfRules().flatMap(({ where }) => (where.includes(':') ? samplesOf(where, {}) : []));
  return [
    ...own,
    ...quiet,
    ...foreign,
    ...recorded,
    ...samplesOf('ALERTS', { alertname: 'any', alertstate: 'firing', severity: 'any' }),
  ];
}

/** Exporter, series, labels. Several values of a label are separated by `|`. */
type Catalogue = Record<string, Record<string, Record<string, string>>>;

function samplesOf(name: string, labels: Record<string, string>): Sample[] {
  const most = Math.max(1, ...Object.values(labels).map((values) => values.split('|').length));
  return Array.from({ length: most }, (_, index) => {
    const one = Object.entries(labels).map(([label, values]) => [label, values.split('|')[index] ?? values]);
    return { name, labels: Object.fromEntries(one) as Record<string, string>, value: 0 };
  });
}
