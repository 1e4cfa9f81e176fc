import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { amountOf } from '@quittance/testkit/random-runs.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { startRealServices, type RealServices } from './real-services.ts';

// Hundreds of sequences take their time on a busy machine; nothing here passes or fails by it.
jest.setTimeout(3_600_000);

const DAY_MS = 86_400_000;

let services: RealServices;
beforeAll(async () => {
  services = await startRealServices();
});
afterAll(() => services.close());

/** What the API contract says about one merchant, written down a second time and without a look at the services. */
type Contract = {
  access: 'beta' | 'legacy';
  days: number | null;
  /** Milliseconds; null until activated. */
  started: number | null;
  total: number;
  daily: number | null;
  paused: boolean;
  blocked: boolean;
  /** Payments created: in this package, today, ever. */
  used: number;
  today: number;
  lifetime: number;
};

type Step =
  | { do: 'activate' | 'pause' | 'resume' | 'block' | 'unblock' }
  | { do: 'extend' | 'pass-days'; days: number }
  | { do: 'limits'; total: number | undefined; daily: number | null | undefined }
  | { do: 'move-to-beta'; total: number | undefined; daily: number | null | undefined; days: number | undefined }
  | { do: 'create'; many: number };

/** Small numbers, so that every limit is reached. */
const total = fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined });
const daily = fc.option(fc.option(fc.integer({ min: 0, max: 4 })), { nil: undefined });
const days = fc.integer({ min: 1, max: 40 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), many: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'activate' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step>({ do: 'pause' }, { do: 'resume' }, { do: 'block' }, { do: 'unblock' }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('extend' as const, 'pass-days' as const), days }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('limits' as const), total, daily }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ do: fc.constant('move-to-beta' as const), total, daily },
      days: fc.option(days, { nil: undefined }),
    }),
  },
);

test('whatever operators do in whatever order, creation and limits are what the contract says of it', () =>
  withinOneDay(async () => {
    const registration = fc.record({
      access: fc.constantFrom('beta' as const, 'legacy' as const),
      total: fc.integer({ min: 0, max: 8 }),
    });
    const sequences = fc.asyncProperty(registration, fc.array(step, { minLength: 4, maxLength: 14 }), follow);
    await fc.assert(sequences, { numRuns: amountOf({ short: 6, long: 500 }) });
  }));

async function follow(start: { access: 'beta' | 'legacy'; total: number }, steps: Step[]): Promise<void> {
  const beta = start.access === 'beta';
  const { merchant_id: id } = await services.merchant({ access_type: start.access, total_limit: start.total });
  const contract: Contract = {
    ...{ access: start.access, days: beta ? 30 : null, started: null, total: start.total, daily: beta ? 10 : null },
    ...{ paused: false, blocked: false, used: 0, today: 0, lifetime: 0 },
  };
  for (const one of steps) {
    await perform(id, one, contract);
    // At once: a permission may still be under way, and the next creation must not depend on it.
    if (one.do !== 'create') expect([one, await createdCodes(id, 1)]).toEqual([one, expected(contract, 1)]);
    await expectRecord(id, contract);
  }
  await expectAuditIsAChain(id);
}

/** Does it in the services and in the contract, and expects both to refuse the same. */
async function perform(id: string, one: Step, contract: Contract): Promise<void> {
  switch (one.do) {
    case 'create':
      expect(await createdCodes(id, one.many)).toEqual(expected(contract, one.many));
      return;
    case 'pass-days':
      return passDays(id, one.days, contract);
    case 'block':
    case 'unblock':
      contract.blocked = one.do === 'block';
      return account(id, one.do);
    case 'pause':
    case 'resume':
      contract.paused = one.do === 'pause';
      await change(id, one.do, {}, 200);
      return;
    case 'limits':
      if (one.total === undefined && one.daily === undefined) {
        await change(id, 'limits', {}, 422);
        return;
      }
      contract.total = one.total ?? contract.total;
      if (one.daily !== undefined) contract.daily = one.daily;
      await change(id, 'limits', { total_limit: one.total, daily_limit: one.daily }, 200);
      return;
    case 'activate': {
      const before = Date.now();
      const isAllowed = contract.access === 'beta' && contract.started === null;
      const { beta_started_at: started } = await change(id, 'activate', {}, isAllowed ? 200 : 409);
      if (!isAllowed) return;
      contract.started = Date.parse(started!);
      expect(contract.started).toBeGreaterThanOrEqual(before - 1);
      expect(contract.started).toBeLessThanOrEqual(Date.now() + 1);
      return;
    }
    case 'extend': {
      const isAllowed = contract.access === 'beta' && contract.started !== null;
      await change(id, 'extend', { days: one.days }, isAllowed ? 200 : 409);
      if (isAllowed) contract.days = contract.days! + one.days;
      return;
    }
    case 'move-to-beta': {
      const isAllowed = contract.access === 'legacy';
      const conditions = { total_limit: one.total, daily_limit: one.daily, beta_duration_days: one.days };
      await change(id, 'move-to-beta', conditions, isAllowed ? 200 : 409);
      if (!isAllowed) return;
      contract.access = 'beta';
      contract.days = one.days ?? 30;
      contract.total = one.total ?? 100;
      contract.daily = one.daily === undefined ? 10 : one.daily;
      contract.used = 0;
    }
  }
}

/** What so many creations, one after the other, answer; and counts them. */
function expected(contract: Contract, many: number): string[] {
  return Array.from({ length: many }, () => {
    const reason = reasonOf(contract);
    if (reason !== null) return reason;
    contract.used += 1;
    contract.today += 1;
    contract.lifetime += 1;
    return 'created';
  });
}

/** What so many creations at once answer, the successful ones first: which of them that were does not matter. */
async function createdCodes(id: string, many: number): Promise<string[]> {
  const answers = await Promise.all(Array.from({ length: many }, () => services.create(id)));
  const codes = answers.map(({ status, code }) => (status === 201 ? 'created' : (code ?? String(status))));
  return codes.sort((a, b) => Number(b === 'created') - Number(a === 'created'));
}

function reasonOf(contract: Contract): string | null {
  if (contract.blocked) return 'account_inactive';
  if (contract.paused) return 'creation_paused';
  if (contract.access === 'beta') {
    if (contract.started === null) return 'beta_not_activated';
    if (Date.now() >= contract.started + contract.days! * DAY_MS) return 'beta_expired';
  }
  if (contract.used >= contract.total) return 'total_quota_exhausted';
  if (contract.daily !== null && contract.today >= contract.daily) return 'daily_quota_exhausted';
  return null;
}

async function expectRecord(id: string, contract: Contract): Promise<void> {
  const policy = await services.internal<AccessPolicy>('quota', 'GET', `/merchants/${id}/policy`);
  await services.untilEnforced(id, policy.body.policy_version);
  const reason = reasonOf(contract);
  const moment = (ms: number): string => new Date(ms).toISOString();
  const { started, total: all, daily: perDay, used, today } = contract;
  expect(await services.limits(id)).toEqual({
    merchant_id: id,
    access_type: contract.access,
    status: contract.blocked ? 'blocked' : 'active',
    creation_enabled: !contract.paused,
    creation_allowed: reason === null,
    creation_block_reason: reason,
    beta_duration_days: contract.days,
    beta_started_at: started === null ? null : moment(started),
    beta_expires_at: started === null ? null : moment(started + contract.days! * DAY_MS),
    total_limit: all,
    requests_used: used,
    requests_left: Math.max(0, all - used),
    lifetime_requests_used: contract.lifetime,
    daily_limit: perDay,
    daily_used: today,
    daily_left: perDay === null ? null : Math.max(0, perDay - today),
    daily_reset_at: expect.stringMatching(/T00:00:00\.000Z$/),
    server_time: expect.any(String),
  });
}

/** A restriction ends when payments enforces it, as the command line waits; a permission does not wait at all. */
async function change(id: string, action: string, body: object, status: number): Promise<AccessPolicy> {
  const answer = await services.internal<AccessPolicy>('quota', 'POST', `/merchants/${id}/${action}`, body);
  expect([action, answer.status, answer.body]).toEqual([action, status, expect.anything()]);
  const restricts = ['pause', 'limits', 'move-to-beta'].includes(action);
  if (status === 200 && restricts) await services.untilEnforced(id, answer.body.policy_version);
  return answer.body;
}

/** As the command line waits: until quota has received it, and for a block until payments enforces what quota made of it. */
async function account(id: string, action: 'block' | 'unblock'): Promise<void> {
  type Heard = { status_version: number; policy_version: number };
  const changed = await services.internal<Heard>('api-gateway', 'POST', `/merchants/${id}/${action}`, {});
  const received = await eventually(async () => {
    const { body } = await services.internal<Heard>('quota', 'GET', `/merchants/${id}/account-status`);
    if (body.status_version < changed.body.status_version) throw new Error('quota has not received it');
    return body;
  });
  if (action === 'block') await services.untilEnforced(id, received.policy_version);
}

/** As if so many days had gone by: the beta is that much older, and what was created today was created then. */
async function passDays(id: string, many: number, contract: Contract): Promise<void> {
  const older = `beta_started_at = beta_started_at - $2 * interval '24 hours', beta_expires_at = beta_expires_at - $2 * interval '24 hours'`;
  const { body } = await services.internal<AccessPolicy>('quota', 'GET', `/merchants/${id}/policy`);
  await services.untilEnforced(id, body.policy_version);
  await services.pools.quota.query(`update policy set ${older} where merchant_id = $1`, [id, many]);
  await services.pools.payments.query(
    `update gate set ${older}, used_day = used_day - $2::integer where merchant_id = $1`,
    [id, many],
  );
  if (contract.started !== null) contract.started -= many * DAY_MS;
  contract.today = 0;
}

type Audited = { policy_version: number; actor: string; before: AccessPolicy | null; after: AccessPolicy };

/** Each version once, by somebody, and from what the one before left, save for the days that this test made go by. */
async function expectAuditIsAChain(id: string): Promise<void> {
  const { body } = await services.internal<{ changes: Audited[] }>('quota', 'GET', `/merchants/${id}/audit`);
  const changes = body.changes.toReversed();
  const timeless = (policy: AccessPolicy | null | undefined) =>
    policy && { ...policy, beta_started_at: null, beta_expires_at: null };
  for (const [at, { policy_version: version, actor, before }] of changes.entries()) {
    expect(version).toBe(at + 1);
    expect(actor).toMatch(/^(olga|api-gateway)$/);
    expect(timeless(before)).toEqual(at === 0 ? null : timeless(changes[at - 1]?.after));
  }
}

test('whatever order the messages come in, and however often, payments ends with the newest policy', async () => {
  const versions = fc.array(
    fc.record({
      ...{ account_active: fc.boolean(), creation_paused: fc.boolean() },
      ...{ total_limit: fc.integer({ min: 0, max: 1000 }), daily_limit: fc.option(fc.integer({ min: 0, max: 100 })) },
    }),
    { minLength: 2, maxLength: 6 },
  );
  const shuffles = versions.chain((list) => {
    const positions = list.map((_item, at) => at);
    // Every version at least once, some of them twice.
    const order = fc.tuple(fc.shuffledSubarray(positions), fc.shuffledSubarray(positions, { minLength: list.length }));
    return fc.record({ list: fc.constant(list), order: order.map(([again, once]) => [...once, ...again]) });
  });
  const property = fc.asyncProperty(shuffles, async ({ list, order }) => {
    const id = newId('mer');
    const policies = list.map((fields, at): AccessPolicy => ({
      ...{ merchant_id: id, policy_version: at + 1, access_type: 'legacy', package_number: 1, ...fields },
      ...{ beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
    }));
    await services.tell(order.map((at) => policies[at]!));
    const { body } = await services.internal<AccessPolicy>('payments', 'GET', `/merchants/${id}/gate`);
    expect(body).toMatchObject(policies.at(-1)!);
  });
  await fc.assert(property, { numRuns: amountOf({ short: 10, long: 1_000 }) });
});
