import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { AccessPolicy, CreationLimits } from '@quittance/contracts/access.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { startRealServices, type Creation, type RealServices } from './real-services.ts';
import { runOps } from './world.ts';

// Real services on a busy machine take their time; nothing here passes or fails by it.

/** From an answer to the next creation. */
const PACE_MS = 10;

const legacy = { access_type: 'legacy', total_limit: 100_000 };

let services: RealServices;
beforeAll(async () => {
  services = await startRealServices();
});
afterEach(() => {
  services.held.quota.restore();
  services.held.gateway.restore();
});
afterAll(() => services.close());

const done = async (words: string[]): Promise<void> => {
  expect(await services.ops(words)).toMatchObject({ code: 0, stderr: '' });
};

describe('once a restriction was acknowledged, nothing is created any more, on no replica', () => {
  test.each([
    ['merchant pause', ['pause'], 'creation_paused'],
    ['merchant block', ['block', '--yes'], 'account_inactive'],
    ['merchant set-limits, lower', ['set-limits', '--total', '0'], 'total_quota_exhausted'],
    ['merchant move-to-beta', ['move-to-beta', '--yes'], 'beta_not_activated'],
  ])('%s', async (_name, [word = '', ...options], code) => {
    const { merchant_id: id } = await services.merchant(legacy);
    const before: Creation[] = [];
    const after: Creation[] = [];
    let answers = before;
    let isOver = false;
    // Each asks the replicas in turn, before the command, during it and after it. A message that is late is late by many of their turns.
    const creators = Array.from({ length: 2 }, async () => {
      while (!isOver) {
        const list = answers;
        list.push(await services.create(id));
        await pause(PACE_MS);
      }
    });
    await eventually(() => expect(before.filter(({ status }) => status === 201).length).toBeGreaterThan(20));

    // The message takes its time, so that ending before it has arrived would show.
    services.held.quota.delay(700);
    await done(['merchant', word, id, ...options]);
    const { lifetime_requests_used: created } = await services.limits(id);
    answers = after;
    await eventually(() => expect(after.length).toBeGreaterThan(40));
    isOver = true;
    await Promise.all(creators);

    expect(new Set(after.map((answer) => `${answer.status} ${answer.code}`))).toEqual(new Set([`403 ${code}`]));
    // What was on its way when the command ended has created nothing either.
    expect((await services.limits(id)).lifetime_requests_used).toBe(created);
    expect(before.filter(({ status }) => status === 201)).toHaveLength(created);
  });
});

describe('a restriction that cannot reach payments', () => {
  test('is not acknowledged, and is when the command is repeated later', async () => {
    const { merchant_id: id } = await services.merchant(legacy);
    services.held.quota.cut();
    const late = await services.ops(['merchant', 'pause', id, '--wait', '1']);
    expect(late).toMatchObject({ code: 3, stdout: '', stderr: expect.stringMatching(/saved, but payments has not/) });
    services.held.quota.restore();
    await done(['merchant', 'pause', id, '--wait', '60']);
    expect(await services.create(id)).toEqual({ status: 403, code: 'creation_paused' });
  });

  test('is not taken for an older one that payments has applied', async () => {
    const { merchant_id: id } = await services.merchant(legacy);
    await done(['merchant', 'block', id, '--yes']);
    services.held.gateway.cut();
    // Payments still applies the first block; the unblocking is on its way, and would open the account after the second.
    for (const words of [['unblock'], ['block', '--yes']]) {
      const late = await services.ops(['merchant', ...words, id, '--wait', '1']);
      expect(late).toMatchObject({ code: 3, stderr: expect.stringMatching(/quota has not received it/) });
    }
    services.held.gateway.restore();
    await done(['merchant', 'block', id, '--yes', '--wait', '60']);
    expect(await services.create(id)).toEqual({ status: 403, code: 'account_inactive' });
    const received = await services.internal<{ status_version: number }>(
      'quota',
      'GET',
      `/merchants/${id}/account-status`,
    );
    expect(received.body.status_version).toBe(4);
  });
});

describe('once a permission was given, the very next creation succeeds', () => {
  test('after merchant activate, extend and resume, although the message is still under way', async () => {
    const { merchant_id: id } = await services.merchant({ access_type: 'beta' });
    expect(await services.create(id)).toEqual({ status: 403, code: 'beta_not_activated' });
    services.held.quota.cut();
    await done(['merchant', 'activate', id]);
    expect((await services.limits(id)).creation_allowed).toBe(true);
    expect(await services.create(id)).toEqual({ status: 201, code: null });
    services.held.quota.restore();

    await done(['merchant', 'pause', id, '--wait', '60']);
    services.held.quota.cut();
    await done(['merchant', 'resume', id]);
    // The record shows it before a creation has asked.
    expect(await services.limits(id)).toMatchObject({ creation_allowed: true, creation_enabled: true });
    expect(await services.create(id)).toEqual({ status: 201, code: null });

    for (const database of [services.pools.payments, services.pools.quota]) {
      const table = database === services.pools.quota ? 'policy' : 'gate';
      await database.query(
        `update ${table} set beta_started_at = beta_started_at - interval '31 days', beta_expires_at = beta_expires_at - interval '31 days'
          where merchant_id = $1`,
        [id],
      );
    }
    expect(await services.create(id)).toEqual({ status: 403, code: 'beta_expired' });
    const short = await services.ops(['merchant', 'extend', id, '--days', '1']);
    expect(short).toMatchObject({ code: 0, stderr: expect.stringMatching(/The beta is still over/) });
    await done(['merchant', 'extend', id, '--days', '2']);
    expect(await services.create(id)).toEqual({ status: 201, code: null });
    services.held.quota.restore();
  });

  test('after merchant unblock, each time', async () => {
    const { merchant_id: id } = await services.merchant(legacy);
    for (let round = 0; round < 2; round += 1) {
      await done(['merchant', 'block', id, '--yes']);
      expect(await services.create(id)).toEqual({ status: 403, code: 'account_inactive' });
      await done(['merchant', 'unblock', id]);
      expect(await services.create(id)).toEqual({ status: 201, code: null });
    }
  });
});

describe('the limits record', () => {
  test('shows the last creation and the last command at once, in every field', () =>
    withinOneDay(async () => {
      const merchant = await services.merchant({ ...legacy, total_limit: 7 });
      const { merchant_id: id } = merchant;
      /** When the merchant's last request was made; one machine, so one clock. */
      let asked = { from: 0, to: Date.now() };
      async function ask<T>(...request: [method: string, path: string, body?: object, headers?: object]) {
        const from = Date.now();
        const answer = await services.asMerchant<T>(merchant, ...request);
        const previous = asked;
        asked = { from, to: Date.now() };
        return { ...answer, previous };
      }
      let expected: Partial<CreationLimits> = {
        merchant_id: id,
        ...{ access_type: 'legacy', status: 'active', creation_enabled: true, creation_allowed: true },
        ...{ creation_block_reason: null, beta_duration_days: null, beta_started_at: null, beta_expires_at: null },
        ...{ total_limit: 7, requests_used: 0, requests_left: 7, lifetime_requests_used: 0 },
        ...{ daily_limit: null, daily_used: 0, daily_left: null },
      };
      /** @param change what should differ from the record before. */
      async function expectLimits(change: Partial<CreationLimits>): Promise<void> {
        const { body, previous } = await ask<CreationLimits>('GET', '/merchant/limits');
        const { daily_reset_at: reset, server_time: now, last_api_request_at: last, ...record } = body;
        expected = { ...expected, ...change };
        expect(record).toEqual(expected);
        const midnight = new Date(now);
        midnight.setUTCHours(24, 0, 0, 0);
        expect(reset).toBe(midnight.toISOString());
        expect(Date.parse(last!)).toBeGreaterThanOrEqual(previous.from - 1);
        expect(Date.parse(last!)).toBeLessThanOrEqual(previous.to + 1);
      }
      const create = async (amount: string): Promise<number> => {
        const body = { amount, merchant_wallet: `0x${'a1'.repeat(20)}`, description: 'Tea' };
        return (await ask('POST', '/payments', body, { 'idempotency-key': amount })).status;
      };

      await expectLimits({});
      expect(await create('1')).toBe(201);
      const one = { requests_used: 1, requests_left: 6, lifetime_requests_used: 1, daily_used: 1 };
      await expectLimits(one);
      // A replay counts nothing, and is a request all the same.
      expect(await create('1')).toBe(201);
      await expectLimits({});

      await done(['merchant', 'set-limits', id, '--daily', '3']);
      await expectLimits({ daily_limit: 3, daily_left: 2 });
      await done(['merchant', 'set-limits', id, '--total', '1']);
      const exhausted = { creation_allowed: false, creation_block_reason: 'total_quota_exhausted' } as const;
      await expectLimits({ total_limit: 1, requests_left: 0, ...exhausted });
      await done(['merchant', 'pause', id]);
      await expectLimits({ creation_enabled: false, creation_block_reason: 'creation_paused' });
      await done(['merchant', 'resume', id]);
      await expectLimits({ creation_enabled: true, ...exhausted });
      await done(['merchant', 'move-to-beta', id, '--yes', '--days', '5', '--total', '4', '--daily', '2']);
      await expectLimits({
        ...{ access_type: 'beta', beta_duration_days: 5, creation_block_reason: 'beta_not_activated' },
        ...{ total_limit: 4, requests_used: 0, requests_left: 4, daily_limit: 2, daily_left: 1 },
      });
      const active = JSON.parse((await services.ops(['merchant', 'activate', id, '--json'])).stdout) as AccessPolicy;
      const { beta_started_at: start } = active;
      const ends = (days: number): string => new Date(Date.parse(start!) + days * 86_400_000).toISOString();
      const open = { creation_allowed: true, creation_block_reason: null };
      await expectLimits({ beta_started_at: start, beta_expires_at: ends(5), ...open });
      expect(await create('2')).toBe(201);
      await expectLimits({
        ...{ requests_used: 1, requests_left: 3, lifetime_requests_used: 2, daily_used: 2, daily_left: 0 },
        ...{ creation_allowed: false, creation_block_reason: 'daily_quota_exhausted' },
      });
      await done(['merchant', 'extend', id, '--days', '2']);
      await expectLimits({ beta_duration_days: 7, beta_expires_at: ends(7) });
      await done(['merchant', 'set-limits', id, '--daily', 'none']);
      await expectLimits({ daily_limit: null, daily_left: null, ...open });
    }));
});

describe('inside a cluster', () => {
  const nobody = process.getuid?.() === 0 ? { uid: 54_321 } : {};

  test('the environment is all it needs: no home, no checkout, no terminal, and a user without a name', async () => {
    const { merchant_id: id } = await services.merchant(legacy);
    const options = { cwd: '/', ...nobody };
    const env = { ...services.env, LOCAL_DIRECTORY: '/nowhere' };
    const shown = await runOps(['merchant', 'show', id, '--json'], env, options);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(shown.stdout)).toMatchObject({ merchant: { merchant_id: id }, gate: { merchant_id: id } });
    const named = ['--actor', 'olga', '--reason', 'asked by mail'];
    expect(await runOps(['merchant', 'pause', id, ...named], env, options)).toMatchObject({ code: 0, stderr: '' });
    expect(await runOps(['dead-letter', 'list', '--json'], env, options)).toMatchObject({ code: 0, stderr: '' });
    const anonymous = await runOps(['merchant', 'resume', id], env, options);
    // Only root can become a user without a name here; anybody else has one.
    if (nobody.uid === undefined) expect(anonymous.code).toBe(0);
    else expect(anonymous).toMatchObject({ code: 2, stderr: expect.stringMatching(/Say who you are with --actor/) });
  });

  test('the package offers it as a program called ops', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'quittance-bin-'));
    await symlink(fileURLToPath(new URL('../src/main.ts', import.meta.url)), join(directory, 'ops'));
    const env = { ...services.env, PATH: dirname(process.execPath) };
    const child = spawn(join(directory, 'ops'), ['merchant', 'list', '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stdout = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    const code = await new Promise((resolve) => child.once('close', resolve));
    await rm(directory, { recursive: true });
    expect(code).toBe(0);
    expect(Array.isArray((JSON.parse(stdout) as { merchants: unknown }).merchants)).toBe(true);
  });
});
