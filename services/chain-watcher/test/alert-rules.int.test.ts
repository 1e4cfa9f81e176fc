import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  missingLabels,
  missingSeries,
  readAlertRules,
  samplesOf,
  seriesOf,
  type Sample,
} from '@quittance/testkit/alert-rules.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { INCIDENT_KINDS } from '../src/incidents/incident.sql.ts';
import { misbehavingNode, type MisbehavingNode } from '@quittance/testkit/chain/misbehaving-node.ts';
import { startWorld, type World } from './world.ts';

const rules = readAlertRules(new URL('../../../infra/observability/alerts/chain-watcher.rules.yaml', import.meta.url));

let world: World;
let second: MisbehavingNode;
let samples: Sample[];
let watcher: ReturnType<World['watch']>;

beforeAll(async () => {
  world = await startWorld();
  second = await misbehavingNode(world.chain);
  watcher = world.watch({
    entry: {
      rpc_urls: [{ url: world.chain.rpcUrl, requests_per_day: 100_000_000 }, second.url],
      agreement_above_amount: '1000',
    },
  });
  // Before anything has happened: no reorg, no incident.
  samples = await eventually(async () => {
    const found = await samplesOf(watcher.metrics);
    const isSaid = (metric: string) => found.some(({ name }) => name === metric);
    // The first is set during a look, the second after it, and the third once a block was read at the head.
    const late = ['chain_transfers_awaiting_cross_check', 'chain_audit_lag_blocks', 'chain_clock_difference_seconds'];
    if (!late.every(isSaid)) throw new Error('no look is over yet');
    return found;
  });
});

afterAll(async () => {
  await world.close();
  await second.close();
});

test('there are rules', () => {
  expect(rules.length).toBeGreaterThan(5);
});

test.each(rules)('$alert uses series that a watcher has from the start', (rule) => {
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

// The last test, because the chain's clock is not set back.
test("the metrics show how far a chain's clock is ahead of the process and of the database", async () => {
  await world.chain.rpc('evm_increaseTime', [40]);
  await world.chain.rpc('evm_mine');
  // The watcher's own clock is two seconds ahead of the database's.
  await eventually(async () => {
    const found = await samplesOf(watcher.metrics);
    const ahead = (clock: string) =>
      found.find(({ name, labels }) => name === 'chain_clock_difference_seconds' && labels['clock'] === clock)!.value;
    expect(ahead('process')).toBeGreaterThan(5);
    expect(ahead('database') - ahead('process')).toBeCloseTo(2);
    const { body } = await watcher.call('GET', '/internal/v1/chains');
    expect(body).toMatchObject([{ clock_difference_seconds: 2 }]);
    const [{ chain_clock_difference_seconds: shown }] = body as [{ chain_clock_difference_seconds: number }];
    expect(shown).toBeGreaterThan(7);
  });
});
