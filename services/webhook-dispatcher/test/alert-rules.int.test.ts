import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  missingLabels,
  missingSeries,
  readAlertRules,
  samplesIn,
  seriesOf,
  type Sample,
} from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { attemptErrors } from '../src/lanes/attempt-report.ts';
import { startWorld, type World } from './world.ts';

const rules = readAlertRules(
  new URL('../../../infra/observability/alerts/webhook-dispatcher.rules.yaml', import.meta.url),
);

let world: World;
let samples: Sample[];

beforeAll(async () => {
  world = await startWorld();
  // At the start: nothing sent, nothing failed, nothing waiting.
  samples = await eventually(async () => {
    const found = samplesIn(await world.metrics());
    const ended = found.filter(({ name }) => name === 'loop_last_success_timestamp_seconds');
    const loops = ended.map(({ labels }) => labels['loop']);
    for (const loop of ['deliver', 'deliver-unproven', 'measure', 'partitions', 'give-up'])
      if (!loops.includes(loop)) throw new Error(`${loop} has not run yet`);
    return found;
  });
});

afterAll(() => world.stop());

test('there are rules', () => {
  expect(rules.length).toBeGreaterThan(10);
});

test.each(rules)('$alert asks for series that a dispatcher has from the start', (rule) => {
  expect(seriesOf(rule)).not.toEqual([]);
  expect(missingSeries(rule, samples)).toEqual([]);
});

test.each(rules)('$alert uses labels that its series have', (rule) => {
  expect(missingLabels(rule, samples)).toEqual([]);
});

test('every kind of failed attempt is an increase, and is covered by one of the two alerts on failing attempts', () => {
  const results = samples
    .filter(({ name, value }) => name === 'webhook_attempts_total' && value === 0)
    .map(({ labels }) => labels['result']);
  expect(results.sort()).toEqual(['delivered', ...attemptErrors].sort());
  const named = ['WebhookEgressBroken', 'WebhookReceiversFailing'].flatMap((alert) => {
    const lists = [...exprOf(alert).matchAll(/(?:result|error_category)=~"([^"]*)"/g)].map(([, list = '']) => list);
    // Each rule queries it three times: attempts, their share, and the number of failing merchants.
    expect(lists).toEqual([lists[0], lists[0], lists[0]]);
    return lists[0]!.split('|');
  });
  expect(named.sort()).toEqual([...attemptErrors].sort());
});

test('every loop that must succeed has an alert, and no rule waits for more than is counted', () => {
  const loops = samples
    .filter(({ name }) => name === 'loop_last_success_timestamp_seconds')
    .map(({ labels }) => labels['loop']);
  const watched = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/loop=~?"([^"]*)"/g)].flatMap(([, list = '']) => list.split('|')),
  );
  expect(watched.filter((loop) => !loops.includes(loop))).toEqual([]);
  const thresholds = [...exprOf('WebhookBacklogGrowing').matchAll(/webhook_backlog_deliveries\) > (\d+)/g)];
  expect(thresholds.map(([, number]) => Number(number) < 20_000)).toEqual([true, true]);
});

function exprOf(alert: string): string {
  const rule = rules.find((one) => one.alert === alert);
  if (rule === undefined) throw new Error(`there is no alert ${alert}`);
  return rule.expr;
}
