import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase } from '@quittance/testkit/database.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { createAdmission, type Admission } from '../src/admission/admission.ts';
import { migrations, schema } from '../src/migrations.ts';
import { rateLimits } from '../src/admission/rate-limits.ts';
import { insertMerchant } from '../src/store/merchant.ts';

const merchants = Array.from({ length: 40 }, (_, n) => `mer_${String(n).padStart(32, '0')}`);
const keyOf = (merchantId: string) => sha256(`key of ${merchantId}`);

let database: TestDatabase;
let pools: Pool[];
let replicas: Admission[];
const metrics = createMetrics({ service: 'test', processMetrics: false });
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  const pool = () => createPool({ url: database.url, schema, max: 4, applicationName: 'test', logger: testLogger });
  pools = [pool(), pool()];
  replicas = pools.map((each) => createAdmission(each, metrics));
  for (const merchantId of merchants) {
    const hashes = { keyHash: keyOf(merchantId), secretHash: sha256(`secret of ${merchantId}`) };
    await insertMerchant(pools[0]!, { merchantId, name: 'Shop', ...hashes });
  }
}, 60_000);
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
}, 60_000);

test('requests that share a statement are kept apart: each merchant has its counts, an unknown key has none', async () => {
  const answers = await Promise.all(
    [0, 1, 2].flatMap(() => [
      ...merchants.map((merchantId) => replicas[0]!.caller(keyOf(merchantId), rateLimits.creation)),
      replicas[0]!.caller(sha256('nobody’s key'), rateLimits.creation),
      replicas[0]!.caller(keyOf(merchants[0]!), null),
    ]),
  );
  const counts = (merchantId: string) =>
    answers.filter((answer) => answer?.merchantId === merchantId).map((answer) => answer?.counted?.count);
  expect(counts(merchants[0]!).toSorted()).toEqual([1, 2, 3, undefined, undefined, undefined]);
  for (const merchantId of merchants.slice(1)) expect(counts(merchantId).toSorted()).toEqual([1, 2, 3]);
  expect(answers.filter((answer) => answer === null)).toHaveLength(3);
});

test('two replicas that take the same rows in any order never wait for each other in a circle, and count exactly', async () => {
  const limits = [rateLimits.sharedReads, rateLimits.cancellation, rateLimits.webhookSettings];
  const each = 12;
  const seen = new Map<string, number[]>();
  // Not all at once: each has a time limit, and a busy machine would answer the last too late.
  for (let round = 0; round < each; round += 4) {
    const requests = merchants.flatMap((merchantId) =>
      limits.flatMap((limit) => Array.from({ length: 4 }, () => ({ merchantId, limit, order: Math.random() }))),
    );
    requests.sort((a, b) => a.order - b.order);
    await Promise.all(
      requests.map(async ({ merchantId, limit }, n) => {
        const caller = await replicas[n % 2]!.caller(keyOf(merchantId), limit);
        const key = `${merchantId} ${limit.scope}`;
        seen.set(key, [...(seen.get(key) ?? []), caller!.counted!.count]);
      }),
    );
  }
  const all = Array.from({ length: each }, (_, n) => n + 1);
  expect(seen.size).toBe(merchants.length * limits.length);
  for (const counts of seen.values()) expect(counts.toSorted((a, b) => a - b)).toEqual(all);
});

test('counters without a merchant are shared in the same way', async () => {
  const tokens = ['a', 'b', 'c'];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => replicas[n % 2]!.count(tokens[n % 3]!, rateLimits.publicStatus)),
  );
  for (const [position] of tokens.entries()) {
    const counts = answers.filter((_, n) => n % 3 === position).map(({ count }) => count);
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  }
});

test('what is over a limit is shown by limit, and every limit from the start', async () => {
  const refusals = async () => {
    const samples = (await samplesOf(metrics)).filter(({ name }) => name === 'rate_limit_refusals_total');
    return Object.fromEntries(samples.map(({ labels, value }) => [String(labels['limit']), value]));
  };
  const before = await refusals();
  expect(Object.keys(before).sort()).toEqual(
    Object.values(rateLimits)
      .map(({ scope }) => scope)
      .sort(),
  );
  const key = keyOf(merchants[39]!);
  await Promise.all([
    ...Array.from({ length: 8 }, () => replicas[0]!.count('a secret’s hash', rateLimits.keyRotation)),
    ...Array.from({ length: 7 }, () => replicas[0]!.caller(key, rateLimits.manualRetry)),
    replicas[0]!.caller(key, null),
  ]);
  expect(await refusals()).toEqual({
    ...before,
    key_rotation: before['key_rotation']! + 3,
    manual_retry: before['manual_retry']! + 2,
  });
});
