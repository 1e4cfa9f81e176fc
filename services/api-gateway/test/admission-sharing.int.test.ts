import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sha256 } from '@quittance/contracts/ids.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { sharedTrust } from '@quittance/testkit/trust.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { samplesOf } from '@quittance/testkit/alert-rules.ts';
import { createAdmission, type Admission, rateLimits } from '../src/limits/admission.ts';
import { migrations, schema } from '../src/migrations.ts';
import type { RateLimit } from '../src/limits/admission.sql.ts';
import { addApiKey, revokeApiKey } from '../src/keys/key.sql.ts';
import { insertMerchant } from '../src/merchants/merchant.sql.ts';

const merchants = Array.from({ length: 40 }, (_, n) => `mer_${String(n).padStart(32, '0')}`);
/** Has several keys. */
const shop = `mer_${'a'.repeat(32)}`;
const keyOf = (merchantId: string) => sha256(`key of ${merchantId}`);

let database: TestDatabase;
let pools: Pool[];
let replicas: Admission[];
const metrics = createMetrics({ service: 'test', processMetrics: false });
const ask = (keyHash: Buffer, limit: RateLimit | null, replica = 0, scope: 'read' | 'all' = 'all') =>
  replicas[replica]!.caller({ keyHash, scope, limit });
beforeAll(async () => {
  database = await testDatabase({ schema, migrations });
  const pool = () => testPool({ url: database.url, schema, max: 4 });
  pools = [pool(), pool()];
  replicas = pools.map((each) => createAdmission(each, metrics, sharedTrust()));
  for (const merchantId of [...merchants, shop]) {
    const hashes = { keyHash: keyOf(merchantId), secretHash: sha256(`secret of ${merchantId}`) };
    await insertMerchant(pools[0]!, { merchantId, name: 'Shop', ...hashes });
  }
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

test('requests that share a statement are counted separately: each merchant has its own counts, an unknown key has none', async () => {
  const answers = await Promise.all(
    [0, 1, 2].flatMap(() => [
      ...merchants.map((merchantId) => ask(keyOf(merchantId), rateLimits.creation)),
      ask(sha256('nobody’s key'), rateLimits.creation),
      ask(keyOf(merchants[0]!), null),
    ]),
  );
  const counts = (merchantId: string) =>
    answers.filter((answer) => answer?.merchantId === merchantId).map((answer) => answer?.counted?.count);
  expect(counts(merchants[0]!).toSorted()).toEqual([1, 2, 3, undefined, undefined, undefined]);
  for (const merchantId of merchants.slice(1)) expect(counts(merchantId).toSorted()).toEqual([1, 2, 3]);
  expect(answers.filter((answer) => answer === null)).toHaveLength(3);
});

test('two replicas that take the same rows in any order do not deadlock, and count exactly', async () => {
  const limits = [rateLimits.sharedReads, rateLimits.cancellation, rateLimits.webhookSettings];
  const each = 12;
  const seen = new Map<string, number[]>();
  // Not all at the same time: each has a time limit, and a busy machine would answer the last one too late.
  const groups = [0, 10, 20, 30].map((first) => merchants.slice(first, first + 10));
  const rounds = Array.from({ length: each / 4 }, () => groups).flat();
  for (const group of rounds) {
    const requests = group.flatMap((merchantId) =>
      limits.flatMap((limit) => Array.from({ length: 4 }, () => ({ merchantId, limit, order: Math.random() }))),
    );
    requests.sort((a, b) => a.order - b.order);
    await Promise.all(
      requests.map(async ({ merchantId, limit }, n) => {
        const caller = await ask(keyOf(merchantId), limit, n % 2);
        const key = `${merchantId} ${limit.scope}`;
        seen.set(key, [...(seen.get(key) ?? []), caller!.counted!.count]);
      }),
    );
  }
  const all = Array.from({ length: each }, (_, n) => n + 1);
  expect(seen.size).toBe(merchants.length * limits.length);
  for (const counts of seen.values()) expect(counts.toSorted((a, b) => a - b)).toEqual(all);
});

test('keys of one merchant share its counters, also in one statement, and a key for reading only admits reads', async () => {
  const merchantId = shop;
  const read = sha256('a key for reading');
  const [all, other] = [sha256('a second key'), sha256('a third key')];
  await addApiKey(pools[0]!, { merchantId, name: 'reports', scope: 'read', keyHash: read });
  await addApiKey(pools[0]!, { merchantId, name: 'web', scope: 'all', keyHash: all });
  await addApiKey(pools[0]!, { merchantId, name: 'app', scope: 'all', keyHash: other });
  const keys = [keyOf(merchantId), read, all, other, read, keyOf(merchantId), all];
  const answers = await Promise.all(keys.map((key) => ask(key, rateLimits.sharedReads, 0, 'read')));
  expect(answers.map((answer) => answer?.merchantId)).toEqual(keys.map(() => merchantId));
  const counts = answers.map((answer) => answer!.counted!.count);
  expect(counts.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7]);

  const writes = await Promise.all([read, all, read, keyOf(merchantId)].map((key) => ask(key, rateLimits.creation)));
  expect(writes.map((answer) => answer?.counted?.count)).toEqual([undefined, 1, undefined, 2]);
});

test('a key is refused after its revocation, and no other key is', async () => {
  const merchantId = shop;
  const [gone, kept] = [sha256('a key that goes'), sha256('a key that stays')];
  await addApiKey(pools[0]!, { merchantId, name: 'gone', scope: 'all', keyHash: gone });
  await addApiKey(pools[0]!, { merchantId, name: 'kept', scope: 'all', keyHash: kept });
  expect(await ask(gone, rateLimits.creation, 1)).toMatchObject({ merchantId });
  expect(await revokeApiKey(pools[0]!, merchantId, 'gone')).toMatchObject({ revoked_at: expect.any(Date) });
  const after = await Promise.all([gone, kept, keyOf(merchantId)].map((key) => ask(key, rateLimits.creation, 1)));
  expect(after.map((answer) => answer?.merchantId)).toEqual([undefined, merchantId, merchantId]);
});

test('counters without a merchant are shared too', async () => {
  const tokens = ['a', 'b', 'c'];
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, n) => replicas[n % 2]!.count(tokens[n % 3]!, rateLimits.publicStatus)),
  );
  for (const [position] of tokens.entries()) {
    const counts = answers.filter((_, n) => n % 3 === position).map(({ count }) => count);
    expect(counts.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  }
});

test('requests over a limit are counted per limit in the metrics, and every limit has a series from the start', async () => {
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
    ...Array.from({ length: 7 }, () => ask(key, rateLimits.manualRetry)),
    ask(key, null),
  ]);
  expect(await refusals()).toEqual({
    ...before,
    key_rotation: before['key_rotation']! + 3,
    manual_retry: before['manual_retry']! + 2,
  });
});
