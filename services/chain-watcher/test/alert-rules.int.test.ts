import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@quittance/testkit/eventually.ts';
import { parse } from 'yaml';
import { INCIDENT_KINDS } from '../src/store/incidents.ts';
import { misbehavingNode, type MisbehavingNode } from './misbehaving-node.ts';
import { startWorld, type World } from './world.ts';

type Rule = { alert: string; expr: string; annotations: Record<string, string> };
type Sample = { name: string; labels: Record<string, string | number | undefined>; value: number };

const file = new URL('../../../infra/prometheus/chain-watcher.rules.yaml', import.meta.url);
const { groups } = parse(readFileSync(file, 'utf8')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Which replica a sample comes from: Prometheus says so, not the replica. */
const OF_PROMETHEUS = 'instance';
const OPERATORS = ['and', 'or', 'unless', 'bool'];
const CLAUSE = /\b(by|on)\s*\(([^)]*)\)/g;

let world: World;
let second: MisbehavingNode;
let samples: Sample[];

beforeAll(async () => {
  world = await startWorld();
  second = await misbehavingNode(world.chain);
  const { metrics } = world.watch({
    rpcUrls: [world.chain.rpcUrl, second.url],
    entry: { agreement_above_amount: '1000' },
  });
  // Before anything has happened: nothing reorganised, no incident.
  samples = await eventually(async () => {
    // Some are only read when somebody asks.
    await metrics.render();
    const found = (await metrics.registry.getMetricsAsJSON()).flatMap(({ name, values }) =>
      values.map((sample): Sample => {
        const own = 'metricName' in sample ? (sample.metricName as string) : name;
        return { name: own, labels: sample.labels, value: sample.value };
      }),
    );
    const isSaid = (metric: string) => found.some(({ name }) => name === metric);
    // The first is said during a look and the second after it.
    if (!isSaid('chain_transfers_awaiting_agreement') || !isSaid('chain_audit_lag_blocks'))
      throw new Error('no look is over yet');
    return found;
  });
}, 30_000);

afterAll(async () => {
  await world.close();
  await second.close();
});

test('there are rules', () => {
  expect(rules.length).toBeGreaterThan(5);
});

test.each(rules)('$alert asks for series that a watcher has from the start', ({ expr }) => {
  const asked = seriesIn(expr);
  expect(asked).not.toEqual([]);
  const missing = asked.filter((series) => !samples.some((sample) => isOneOf(sample, series)));
  expect(missing).toEqual([]);
});

test.each(rules)('$alert uses labels that its series have', ({ expr, annotations }) => {
  const found = seriesIn(expr).map((series) => samples.filter((sample) => isOneOf(sample, series)));
  const has = (label: string) => (ones: Sample[]) => ones.some(({ labels }) => label in labels);
  const grouped = labelsIn(expr, 'by');
  expect(grouped.filter((label) => !found.some(has(label)))).toEqual([]);
  // Both sides are joined by these.
  const joined = labelsIn(expr, 'on').filter((label) => label !== OF_PROMETHEUS);
  expect(joined.filter((label) => !found.every(has(label)))).toEqual([]);
  // What the sentences name is what is left after grouping.
  const named = [
    ...Object.values(annotations)
      .join()
      .matchAll(/\$labels\.(\w+)/g),
  ].map(([, label]) => label);
  expect(named.filter((label) => label === undefined || !grouped.includes(label))).toEqual([]);
});

test('an incident of any kind is an increase', () => {
  const kinds = samples
    .filter(({ name, value }) => name === 'chain_incidents_total' && value === 0)
    .map(({ labels }) => labels['kind']);
  expect(kinds.sort()).toEqual([...INCIDENT_KINDS].sort());
});

type Series = { name: string; matchers: string };

function seriesIn(expr: string): Series[] {
  const bare = expr.replaceAll(CLAUSE, ' ').replaceAll(/\[\w+\]/g, ' ');
  const names = bare.matchAll(/\b([a-z_:][\w:]*)\b(?:\{([^}]*)\})?(?!\s*\()/gi);
  return [...names].flatMap(([, name = '', matchers = '']) => (OPERATORS.includes(name) ? [] : [{ name, matchers }]));
}

function labelsIn(expr: string, clause: 'by' | 'on'): string[] {
  const lists = [...expr.matchAll(CLAUSE)].flatMap(([, word, list = '']) => (word === clause ? [list] : []));
  return lists.flatMap((list) => list.split(',').map((label) => label.trim()));
}

/** Knows the two matchers that rules need: `=` and `=~`. */
function isOneOf({ name, labels }: Sample, series: Series): boolean {
  const matchers = [...series.matchers.matchAll(/(\w+)(=~?)"([^"]*)"/g)];
  if (series.matchers !== '' && matchers.length === 0) throw new Error(`what is ${series.matchers}?`);
  return (
    name === series.name &&
    matchers.every(([, label = '', operator, wanted = '']) => {
      const value = String(labels[label] ?? '');
      return operator === '=~' ? new RegExp(`^(?:${wanted})$`).test(value) : value === wanted;
    })
  );
}
