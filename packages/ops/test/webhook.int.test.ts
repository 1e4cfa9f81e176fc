import { describe, expect, test } from '@jest/globals';
import { newId } from '@quittance/contracts/ids.ts';
import { runOps, startServices } from './world.ts';

// Each command is a process of its own, which a busy machine may be slow to start.
const merchant = `mer_${'a'.repeat(32)}`;
const idOf = (n: number): string => `evt_${String(n).padStart(32, '0')}`;

/** A dispatcher with so many failed events. @param refused positions of those that somebody else retries meanwhile. */
const dispatcherOf = (many: number, refused: readonly number[] = []) => {
  const events = Array.from({ length: many }, (_item, n) => ({ event_id: idOf(n), merchant_id: merchant }));
  return {
    'GET /events': ({ query }: { query: URLSearchParams }) => {
      const after = query.get('after') ?? '';
      return {
        status: 200,
        body: { events: events.filter(({ event_id: id }) => id > after).slice(0, 100), total: many },
      };
    },
    'POST /events/:id/recover': ({ params }: { params: Record<string, string> }) =>
      refused.some((n) => idOf(n) === params['id'])
        ? { status: 409, body: { detail: 'Only a failed webhook event can be retried' } }
        : { status: 202, body: { event_id: params['id'], payment_id: newId('pay'), status: 'pending', attempts: 0 } },
  };
};

const retriedIn = (services: { calls: { method: string; path: string; body: unknown }[] }) =>
  services.calls.filter(({ method }) => method === 'POST');

describe('webhook failed', () => {
  test('says how many there are and how to go on, to a person only', async () => {
    await using services = await startServices(dispatcherOf(130));
    const first = await runOps(['webhook', 'failed', '--merchant', merchant], services.env);
    expect(first).toMatchObject({
      code: 0,
      stderr: `100 of 130. Go on with: webhook failed --merchant ${merchant} --after ${idOf(99)}\n`,
    });
    const rest = await runOps(['webhook', 'failed', '--after', idOf(99), '--json'], services.env);
    expect(rest).toMatchObject({ code: 0, stderr: '' });
    expect((JSON.parse(rest.stdout) as { events: unknown[] }).events).toHaveLength(30);
    expect(services.calls.map(({ query }) => query)).toEqual([
      `status=failed&merchant_id=${merchant}`,
      `status=failed&after=${idOf(99)}`,
    ]);
  });

  test('says nothing of going on at the end', async () => {
    await using services = await startServices(dispatcherOf(130));
    expect((await runOps(['webhook', 'failed', '--after', idOf(99)], services.env)).stderr).toBe('');
  });
});

describe('webhook retry', () => {
  test('tries each event by itself, says what became of each, and exits 1 when one was refused', async () => {
    await using services = await startServices(dispatcherOf(3, [1]));
    const words = ['webhook', 'retry', idOf(0), idOf(1), idOf(2), idOf(0), '--reason', 'receiver is back', '--json'];
    const result = await runOps(words, services.env);
    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/^1 of 3 events were not retried: .*409/) });
    expect(JSON.parse(result.stdout)).toEqual({
      events: [0, 1, 2].map((n) => ({
        event_id: idOf(n),
        outcome: n === 1 ? 'refused' : 'retried',
        reason: n === 1 ? expect.stringMatching(/Only a failed/) : null,
        delivery: n === 1 ? null : expect.objectContaining({ status: 'pending' }),
      })),
    });
    const bodies = retriedIn(services).map(({ body }) => body);
    expect(bodies).toEqual(Array(3).fill({ actor: 'olga', reason: 'receiver is back' }));
  });

  test('exits 3 when the dispatcher is away', async () => {
    await using services = await startServices({});
    const env = { ...services.env, WEBHOOK_DISPATCHER_URL: 'http://127.0.0.1:1' };
    const result = await runOps(['webhook', 'retry', idOf(0), '--json'], env);
    expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/ECONNREFUSED/) });
    expect(JSON.parse(result.stdout)).toMatchObject({ events: [{ outcome: 'unanswered', delivery: null }] });
  });

  test('--all-failed goes through every page, once their number is confirmed', async () => {
    await using services = await startServices(dispatcherOf(230));
    const words = ['webhook', 'retry', '--all-failed', '--merchant', merchant];
    const asked = await runOps(words, services.env);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringMatching(/all 230 failed events of mer_a+ .*--yes/) });
    expect(retriedIn(services)).toEqual([]);
    const result = await runOps([...words, '--yes'], services.env);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(new Set(retriedIn(services).map(({ path }) => path)).size).toBe(230);
    expect(services.calls.every(({ method, query }) => method === 'POST' || query.includes(merchant))).toBe(true);
  });

  test('--all-failed without any has nothing to ask', async () => {
    await using services = await startServices(dispatcherOf(0));
    const result = await runOps(['webhook', 'retry', '--all-failed'], services.env);
    expect(result).toEqual({ code: 0, stderr: '', stdout: '(none)\n' });
  });
});
