import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { MerchantStatusChanged, PaymentCreated } from '@quittance/contracts/messages.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { expectPrismaMatchesDatabase } from '@quittance/testkit/prisma-schema.ts';
import { schema } from '../src/migrations.ts';
import { startWorld } from './world.ts';

let world: Awaited<ReturnType<typeof startWorld>>;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const policyOf = async (merchantId: string): Promise<AccessPolicy> =>
  (await world.call('GET', `/merchants/${merchantId}/policy`)).body as AccessPolicy;

type Audit = {
  changes: {
    policy_version: number;
    action: string;
    actor: string;
    reason: string;
    before: unknown;
    after: unknown;
    changed_at: string;
  }[];
};
const auditOf = async (merchantId: string): Promise<Audit['changes']> =>
  ((await world.call('GET', `/merchants/${merchantId}/audit`)).body as Audit).changes;

const versions = (list: { policy_version: number }[]): number[] =>
  list.map((item) => item.policy_version).toSorted((a, b) => a - b);

const sayStatus = (merchantId: string, status: 'active' | 'blocked', statusVersion: number): Promise<void> =>
  world.sayUntilTaken(MerchantStatusChanged, {
    merchant_id: merchantId,
    status,
    status_version: statusVersion,
    changed_at: '2026-01-31T12:00:00.000Z',
  });

test('schema.prisma describes the migrated database', async () => {
  const schemaFile = new URL('../prisma/schema.prisma', import.meta.url);
  await expectPrismaMatchesDatabase({ schemaFile, url: world.databaseUrl, schema: 'quota' });
});

describe('a change of policy', () => {
  test('is published with growing versions, each equal to the stored policy', async () => {
    const merchantId = await world.register();
    const activated = await world.change(merchantId, 'activate');
    expect(activated).toMatchObject({ status: 200, body: { policy_version: 2, beta_started_at: expect.any(String) } });
    await eventually(() => expect(versions(world.received(merchantId))).toEqual([1, 2]));
    const { changed_at: changedAt, ...announced } = world
      .received(merchantId)
      .find((change) => change.policy_version === 2)!;
    expect(announced).toEqual(activated.body);
    expect(await policyOf(merchantId)).toEqual(activated.body);
    expect(changedAt).toBe(announced.beta_started_at);
  });

  test('is audited with actor, reason, before and after', async () => {
    const merchantId = await world.register();
    const before = await policyOf(merchantId);
    await world.change(merchantId, 'limits', { total_limit: 5, actor: 'olga', reason: 'agreed by phone' });
    const [newest, registration] = await auditOf(merchantId);
    expect(newest).toMatchObject({
      action: 'limits',
      actor: 'olga',
      reason: 'agreed by phone',
      before,
      after: { ...before, total_limit: 5, policy_version: 2 },
    });
    expect(registration).toMatchObject({ action: 'register', actor: 'api-gateway', before: null, after: before });
  });

  test('is found in the audit log by its time', async () => {
    const merchantId = await world.register();
    for (const action of ['pause', 'resume', 'pause']) await world.change(merchantId, action);
    const all = await auditOf(merchantId);
    expect(all.map(({ action }) => action)).toEqual(['pause', 'resume', 'pause', 'register']);
    const older = await world.call('GET', `/merchants/${merchantId}/audit?before=${all[1]!.changed_at}`);
    expect(older.body).toEqual({ changes: all.slice(2) });
    const none = await world.call('GET', `/merchants/${merchantId}/audit?before=${all[3]!.changed_at}`);
    expect(none).toEqual({ status: 200, body: { changes: [] } });
    const wrong = await world.call('GET', `/merchants/${merchantId}/audit?before=yesterday`);
    expect(wrong).toMatchObject({ status: 422, body: { detail: [{ field: 'before' }] } });
  });

  test('gets its own version, audited and published once, with any number of concurrent operators', async () => {
    const merchantId = await world.register();
    const limits = Array.from({ length: 20 }, (_, position) => 1000 + position);
    const answers = await Promise.all(
      limits.map((limit) =>
        eventually(async () => {
          const answer = await world.change(merchantId, 'limits', { total_limit: limit });
          // With so many at the same time, some may wait too long for the database. Repeating one that was applied creates no version.
          expect(answer.status).not.toBe(503);
          return answer;
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(limits.map(() => 200));
    const expected = Array.from({ length: 21 }, (_, position) => position + 1);
    expect(versions(await auditOf(merchantId))).toEqual(expected);
    await eventually(() => expect(versions(world.received(merchantId))).toEqual(expected));
    const [newest] = await auditOf(merchantId);
    expect(newest?.after).toEqual(await policyOf(merchantId));
  });

  test('that arrives while another one is being written is applied after it, to its result', async () => {
    const pool = testPool({ url: world.databaseUrl, schema, max: 2 });
    try {
      // On a busy machine the operator's call may time out without a change. Then the test repeats it.
      await eventually(() => changeBesideAnother(pool));
    } finally {
      await pool.end();
    }
  });

  /** Writes its own version, and commits when an operator's change of the same merchant waits for it. */
  async function changeBesideAnother(pool: Pool): Promise<void> {
    const merchantId = await world.register();
    const holder = await pool.connect();
    try {
      await holder.query('begin');
      await holder.query('update policy set policy_version = 2, total_limit = 7 where merchant_id = $1', [merchantId]);
      await holder.query(
        `insert into policy_change (merchant_id, policy_version, action, actor, reason, after, changed_at)
         values ($1, 2, 'limits', 'ada', 'test', '{}', now())`,
        [merchantId],
      );
      const answer = world.change(merchantId, 'limits', { daily_limit: 3 });
      await eventually(async () => {
        const { rows } = await pool.query(
          `select from pg_stat_activity where wait_event_type = 'Lock' and usename = current_user`,
        );
        expect(rows).toHaveLength(1);
      });
      await holder.query('commit');
      expect((await answer).status).toBe(200);
    } finally {
      holder.release(true);
    }
    expect(await policyOf(merchantId)).toMatchObject({ policy_version: 3, total_limit: 7, daily_limit: 3 });
  }

  test('without effect creates no version', async () => {
    const merchantId = await world.register();
    const first = await world.change(merchantId, 'pause');
    expect(first).toMatchObject({ status: 200, body: { creation_paused: true, policy_version: 2 } });
    expect(await world.change(merchantId, 'pause')).toEqual(first);
    expect(await auditOf(merchantId)).toHaveLength(2);
  });

  test('extends an active beta and keeps the rest', async () => {
    const merchantId = await world.register();
    const active = (await world.change(merchantId, 'activate')).body as AccessPolicy;
    const extended = (await world.change(merchantId, 'extend', { days: 10 })).body as AccessPolicy;
    const added = Date.parse(extended.beta_expires_at!) - Date.parse(active.beta_expires_at!);
    expect(added).toBe(10 * 86_400_000);
    expect(extended).toEqual({
      ...active,
      policy_version: 3,
      beta_duration_days: 40,
      beta_expires_at: extended.beta_expires_at,
    });
  });

  test('from legacy to beta starts a new package that waits for its activation', async () => {
    const merchantId = await world.register({
      access_type: 'legacy',
      total_limit: 5000,
      daily_limit: null,
      beta_duration_days: null,
    });
    const moved = await world.change(merchantId, 'move-to-beta', { total_limit: 50 });
    expect(moved.body).toMatchObject({
      access_type: 'beta',
      package_number: 2,
      total_limit: 50,
      daily_limit: 10,
      beta_started_at: null,
    });
  });
});

describe('an impossible change', () => {
  const unknown = newId('mer');

  test('activating twice, extending before activation and legacy activation are 409 with the reason', async () => {
    const beta = await world.register();
    expect(await world.change(beta, 'extend', { days: 1 })).toEqual({
      status: 409,
      body: { detail: 'The beta is not activated yet', code: 'refused' },
    });
    await world.change(beta, 'activate');
    expect(await world.change(beta, 'activate')).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/already active/), code: 'refused' },
    });
    expect(await auditOf(beta)).toHaveLength(2);
    const legacy = await world.register({ access_type: 'legacy', beta_duration_days: null });
    expect(await world.change(legacy, 'activate')).toMatchObject({ status: 409 });
  });

  test('wrong bodies are 422 and name every field', async () => {
    const merchantId = await world.register();
    const path = `/merchants/${merchantId}`;
    const author = { actor: 'olga', reason: 'test' };
    expect(await world.call('POST', `${path}/limits`, { ...author, total_limit: -1, daily_limit: 1.5 })).toMatchObject({
      status: 422,
      body: { detail: [{ field: 'total_limit' }, { field: 'daily_limit' }] },
    });
    expect(await world.call('POST', `${path}/limits`, author)).toMatchObject({
      status: 422,
      body: { detail: [{ field: 'body', reason: 'must set total_limit, daily_limit or both' }] },
    });
    expect(await world.call('POST', `${path}/pause`, { reason: 'test', days: 1 })).toMatchObject({
      status: 422,
      body: { detail: [{ field: 'actor' }, { field: 'days' }] },
    });
    expect(await world.call('POST', `${path}/extend`, { ...author, days: 0 })).toMatchObject({ status: 422 });
    expect((await policyOf(merchantId)).policy_version).toBe(1);
  });

  test('an unknown merchant is 404', async () => {
    const answer = { status: 404, body: { detail: 'Merchant not found', code: 'not_found' } };
    expect(await world.call('GET', `/merchants/${unknown}/policy`)).toEqual(answer);
    for (const path of ['audit', 'usage', 'account-status', 'audit?before=2026-01-31T12:00:00.000Z']) {
      expect(await world.call('GET', `/merchants/${unknown}/${path}`)).toEqual(answer);
    }
    expect(await world.change(unknown, 'pause')).toEqual(answer);
  });

  test('without the internal token everything is 401', async () => {
    expect(await world.call('GET', `/merchants/${unknown}/policy`, undefined, 'wrong')).toMatchObject({ status: 401 });
  });
});

describe('account status', () => {
  test('a lower status_version is ignored, even if it arrives later', async () => {
    const merchantId = await world.register();
    await sayStatus(merchantId, 'blocked', 3);
    await sayStatus(merchantId, 'active', 2);
    expect(await policyOf(merchantId)).toMatchObject({ account_active: false, policy_version: 2 });
    await sayStatus(merchantId, 'active', 4);
    expect(await policyOf(merchantId)).toMatchObject({ account_active: true, policy_version: 3 });
    expect((await auditOf(merchantId)).map(({ action, reason }) => `${action}: ${reason}`)).toEqual([
      'unblock: account unblocked',
      'block: account blocked',
      'register: registration',
    ]);
  });

  test('has the version of the policy that includes it, so that an old block is not taken for a new one', async () => {
    const merchantId = await world.register();
    const status = async () => (await world.call('GET', `/merchants/${merchantId}/account-status`)).body;
    // The version at registration is in no message.
    expect(await status()).toEqual({ status: 'active', status_version: 1, policy_version: 1 });
    await sayStatus(merchantId, 'blocked', 2);
    expect(await status()).toEqual({ status: 'blocked', status_version: 2, policy_version: 2 });
    // Blocked, unblocked and blocked again, but the second message never arrives: the merchant stays blocked with the first version.
    await sayStatus(merchantId, 'blocked', 4);
    expect(await status()).toEqual({ status: 'blocked', status_version: 4, policy_version: 2 });
    await world.change(merchantId, 'pause');
    expect(await status()).toEqual({ status: 'blocked', status_version: 4, policy_version: 3 });
  });

  test('a status received before the registration counts from the start', async () => {
    const merchantId = newId('mer');
    await sayStatus(merchantId, 'blocked', 1);
    await world.register({ merchant_id: merchantId });
    expect(await policyOf(merchantId)).toMatchObject({ account_active: false, policy_version: 1 });
  });
});

const paymentOf = (merchantId: string, createdAt: string): PaymentCreated => ({
  payment_id: newId('pay'),
  merchant_id: merchantId,
  network: 'local',
  recipient: '0x00000000000000000000000000000000000000A1',
  amount: '10.50',
  created_at: createdAt,
  expires_at: createdAt,
});

test('payments of one batch are counted together, each on its own day and for its own merchant', async () => {
  const merchants = [newId('mer'), newId('mer')];
  const days = ['2026-01-31', '2026-02-01'];
  const before = await world.transactionsOf('payment-created');
  const payments = Array.from({ length: 400 }, (_, index) =>
    paymentOf(merchants[index % 2]!, `${days[index % 4 === 0 ? 0 : 1]!}T12:00:00.000Z`),
  );
  await world.publishAll(PaymentCreated, payments);
  await eventually(async () => {
    const usages = await Promise.all(merchants.map((id) => world.call('GET', `/merchants/${id}/usage`)));
    expect(usages.map(({ body }) => body)).toEqual([
      {
        days: [
          { day: '2026-02-01', payments_created: 100 },
          { day: '2026-01-31', payments_created: 100 },
        ],
      },
      { days: [{ day: '2026-02-01', payments_created: 200 }] },
    ]);
  });
  expect((await world.transactionsOf('payment-created')) - before).toBeLessThan(payments.length / 2);
});

test('the usage history counts each payment on the UTC day of its creation', async () => {
  const merchantId = await world.register();
  const created = (createdAt: string): Promise<void> => world.publish(PaymentCreated, paymentOf(merchantId, createdAt));
  await created('2026-01-31T23:59:59.999Z');
  await created('2026-02-01T00:00:00.000Z');
  await created('2026-02-01T12:00:00.000Z');
  await eventually(async () => {
    const { body } = await world.call('GET', `/merchants/${merchantId}/usage`);
    expect(body).toEqual({
      days: [
        { day: '2026-02-01', payments_created: 2 },
        { day: '2026-01-31', payments_created: 1 },
      ],
    });
  });
  const older = await world.call('GET', `/merchants/${merchantId}/usage?before=2026-02-01`);
  expect(older.body).toEqual({ days: [{ day: '2026-01-31', payments_created: 1 }] });
  const none = await world.call('GET', `/merchants/${merchantId}/usage?before=2026-01-31`);
  expect(none).toEqual({ status: 200, body: { days: [] } });
  expect(await world.call('GET', `/merchants/${merchantId}/usage?before=soon`)).toMatchObject({ status: 422 });
});
