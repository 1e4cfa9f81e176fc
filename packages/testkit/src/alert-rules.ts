import { readFileSync } from 'node:fs';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { parse } from 'yaml';

/** One alert in a file of Prometheus rules. */
export type AlertRule = {
  alert: string;
  expr: string;
  labels?: Record<string, string>;
  annotations: Record<string, string>;
};
/** A recording rule: a name for an expression, which other rules can use. */
export type RecordingRule = { record: string; expr: string };
/** One line of a service's /metrics. */
export type Sample = { name: string; labels: Record<string, string | number | undefined>; value: number };
/** A series that an expression selects. */
type Series = { name: string; matchers: string };

/** Labels that Prometheus adds, not the process. */
const OF_PROMETHEUS = ['instance', 'pod'];
/**
 * Any value of these may be selected: a healthy system has not answered with 500 yet, and an alert on it is still
 * useful. The promtool tests have cases in which it fires.
 */
const OPEN_LABELS = ['status'];
const OPERATORS = ['and', 'or', 'unless', 'bool', 'offset'];
const CLAUSE = /\b(by|on)\s*\(([^)]*)\)/g;

/** The alerts of a file, without recording rules. */
export function readAlertRules(file: URL): AlertRule[] {
  return readRules(file).filter((rule): rule is AlertRule => 'alert' in rule);
}

/** All rules of a file. */
export function readRules(file: URL): (AlertRule | RecordingRule)[] {
  const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: (AlertRule | RecordingRule)[] }[] };
  return groups.flatMap((group) => group.rules);
}

/** Everything a service would show at /metrics now, including values that are read only at a scrape. */
export async function samplesOf(metrics: Metrics): Promise<Sample[]> {
  await metrics.render();
  return (await metrics.registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
    values.map((sample): Sample => {
      const own = 'metricName' in sample ? (sample.metricName as string) : name;
      return { name: own, labels: sample.labels, value: sample.value };
    }),
  );
}

/** The same, from the text of a process's /metrics. */
export function samplesIn(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', list = '', value = ''] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === '') throw new Error(`what is ${line}?`);
    const pairs = [...list.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [label, text]);
    return { name, labels: Object.fromEntries(pairs) as Sample['labels'], value: Number(value) };
  });
}

/** The series that an alert selects, as written there. */
export function seriesOf({ expr }: AlertRule): string[] {
  return seriesIn(expr).map(({ name, matchers }) => (matchers === '' ? name : `${name}{${matchers}}`));
}

/** The series that an alert selects and that are missing in the samples. */
export function missingSeries({ expr }: { expr: string }, samples: readonly Sample[]): string[] {
  const missing = seriesIn(expr).filter((series) => !samples.some((sample) => isOneOf(sample, series)));
  return missing.map(({ name, matchers }) => (matchers === '' ? name : `${name}{${matchers}}`));
}

/** The labels that an alert groups by, joins on or names in its annotations and that its series don't have. */
export function missingLabels(
  { expr, annotations = {} }: { expr: string; annotations?: Record<string, string> },
  samples: readonly Sample[],
): string[] {
  const found = seriesIn(expr).map((series) => samples.filter((sample) => isOneOf(sample, series)));
  const has = (label: string) => (ones: Sample[]) => ones.some(({ labels }) => label in labels);
  const grouped = labelsIn(expr, 'by');
  // The labels on which both sides are joined.
  const joined = labelsIn(expr, 'on').filter((label) => !OF_PROMETHEUS.includes(label));
  // Annotations can name only the labels that remain after grouping.
  const sentences = Object.values(annotations).join();
  const named = [...sentences.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label);
  return [
    ...grouped.filter((label) => !OF_PROMETHEUS.includes(label) && !found.some(has(label))),
    ...joined.filter((label) => !found.every(has(label))),
    ...named.filter((label) => !grouped.includes(label)),
  ];
}

function seriesIn(expr: string): Series[] {
  const bare = expr.replaceAll(CLAUSE, ' ').replaceAll(/\[[\w:]+\]/g, ' ');
  const names = bare.matchAll(/\b([a-z_:][\w:]*)\b(?:\{([^}]*)\})?(?!\s*\()/gi);
  return [...names].flatMap(([, name = '', matchers = '']) => (OPERATORS.includes(name) ? [] : [{ name, matchers }]));
}

function labelsIn(expr: string, clause: 'by' | 'on'): string[] {
  const lists = [...expr.matchAll(CLAUSE)].flatMap(([, word, list = '']) => (word === clause ? [list] : []));
  return lists.flatMap((list) => list.split(',').map((label) => label.trim()));
}

/** Every kind of matcher. Excluded values don't have to exist. */
function isOneOf({ name, labels }: Sample, series: Series): boolean {
  const matchers = [...series.matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
  if (series.matchers !== '' && matchers.length === 0) throw new Error(`what is ${series.matchers}?`);
  return (
    name === series.name &&
    matchers.every(([, label = '', operator, wanted = '']) => {
      if (OPEN_LABELS.includes(label)) return label in labels;
      const value = String(labels[label] ?? '');
      const isMet = operator?.endsWith('~') ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted;
      return operator?.startsWith('!') ? !isMet : isMet;
    })
  );
}
