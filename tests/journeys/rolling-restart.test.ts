import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { judge } from '../faults/rolling/judge.ts';
import { emptiness, roll } from '../faults/rolling/roll.ts';
import { startTraffic } from '../faults/rolling/traffic.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';

/** What takes work in is closed before what that work needs. */
const inOrder = ['http server', 'consumers', 'outbox', 'broker', 'database'];

/** `npm run faults -- rolling` does it to every service, twice. */
describe('restarting replicas under load', () => {
  let stack: JourneyStack;

  beforeAll(async () => {
    stack = await journeyStack({ replicas: 2 });
  }, 240_000);

  afterAll(() => stack.close(), 180_000);

  test('of api-gateway and payments, one after the other, fails no request and loses nothing', async () => {
    const traffic = await startTraffic(stack, { shops: 8 });
    const broken = await roll({ stack, traffic, services: ['api-gateway', 'payments'] });
    await traffic.stop();
    expect([...broken, ...(await judge(stack, traffic)), ...emptiness(traffic)]).toEqual([]);
    // A busy machine answers a few too late, whoever is restarted meanwhile; `npm run faults`, on a quiet one, takes none.
    const answered = [...traffic.answered.values()].reduce((sum, count) => sum + count, 0);
    expect(traffic.late.length).toBeLessThan(answered / 20);
  }, 240_000);

  test('each service closes what takes work in first, and its database last', async () => {
    const first = stack.services.filter((_, index) => index % 2 === 0);
    const ended = await Promise.all(first.map((service) => service.restart()));
    expect(ended.filter((how) => !how.endsWith('exit code 0'))).toEqual([]);
    for (const { name } of first) {
      const log = await readFile(join(repositoryRoot, stack.file.logs, `${name}-1.log`), 'utf8');
      const entries = log.split('\n').filter((line) => line.includes('"msg":"stopped"'));
      const { closed } = JSON.parse(entries.at(-1)!) as { closed: Record<string, number> };
      const expected = inOrder.filter((what) => what !== 'consumers' || name !== 'api-gateway');
      // The database has a pool of connections for each kind of work.
      const parts = Object.keys(closed).map((what) => what.replace(/^database of .*/, 'database'));
      const places = new Set(parts.filter((what) => inOrder.includes(what)));
      expect([name, [...places]]).toEqual([name, expected]);
      expect(parts.slice(-3)).toEqual(['database', 'database', 'database']);
    }
  }, 120_000);
});
