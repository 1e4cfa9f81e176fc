import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { missingLabels, missingSeries, readAlertRules, samplesOf, seriesOf } from '@quittance/testkit/alert-rules.ts';
import type { Sample } from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { INCIDENT_KINDS } from '../src/store/incidents.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { startWorld, type World } from './world.ts';

const rules = readAlertRules(new URL('../../../infra/observability/alerts/chain-watcher.rules.yaml', import.meta.url));

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
    const found = await samplesOf(metrics);
    const isSaid = (metric: string) => found.some(({ name }) => name === metric);
    // The first is said during a look and the second after it.
    if (!isSaid('chain_transfers_awaiting_cross_check') || !isSaid('chain_audit_lag_blocks'))
      throw new Error('no look is over yet');
    return found;
  });
}, 60_000);

afterAll(async () => {
  await world.close();
  await second.close();
});

test('there are rules', () => {
  expect(rules.length).toBeGreaterThan(5);
});

test.each(rules)('$alert asks for series that a watcher has from the start', (rule) => {
  expect(seriesOf(rule)).not.toEqual([]);
  expect(missingSeries(rule, samples)).toEqual([]);
});

test.each(rules)('$alert uses labels that its series have', (rule) => {
  expect(missingLabels(rule, samples)).toEqual([]);
});

test('an incident of any kind is an increase', () => {
  const kinds = samples
    .filter(({ name, value }) => name === 'chain_incidents_total' && value === 0)
    .map(({ labels }) => labels['kind']);
  expect(kinds.sort()).toEqual([...INCIDENT_KINDS].sort());
});
