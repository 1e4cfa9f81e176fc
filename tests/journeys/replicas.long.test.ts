import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { withinOneDay } from '@quittance/testkit/within-one-day.ts';
import { judge } from '../faults/rolling/judge.ts';
import { emptiness, roll } from '../faults/rolling/roll.ts';
import { startTraffic } from '../faults/rolling/traffic.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';

/** A part that accepts work closes before the parts that the work needs. */
const inOrder = ['http server', 'consumers', 'outbox', 'broker', 'database'];

describe('two replicas of every service', () => {
  let stack: JourneyStack;

  beforeAll(async () => {
    stack = await journeyStack({ replicas: 2, sharesBroker: true });
  });

  afterAll(() => stack.close(), 180_000);

  // `npm run faults -- rolling` does this to every service, twice.
  test('restarting api-gateway and payments under load, one replica after the other, fails no request and loses nothing', async () => {
    const traffic = await startTraffic(stack, { shops: 8 });
    const broken = await roll({ stack, traffic, services: ['api-gateway', 'payments'] });
    await traffic.stop();
    expect([...broken, ...(await judge(stack, traffic)), ...emptiness(traffic)]).toEqual([]);
    // A busy machine answers a few requests too late, with or without a restart. `npm run faults`, on a quiet machine, allows none.
    const answered = [...traffic.answered.values()].reduce((sum, count) => sum + count, 0);
    expect(traffic.late.length).toBeLessThan(answered / 20);
  });

  test('each service first closes what accepts work, and its database last', async () => {
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
  });

  test(
    'each of many payments is paid once and reported once, also when half of each service’s replicas die meanwhile',
    () =>
      withinOneDay(async () => {
        const shop = await Shop.open(stack);
        const amounts = Array.from({ length: 12 }, (_, index) => `${index + 1}.5`);
        const payments = await Promise.all(
          amounts.map((amount) => insist(() => shop.create(amount, `order-${amount}`))),
        );
        expect(payments.map(({ status }) => status)).toEqual(amounts.map(() => 201));

        for (const [index, { body }] of payments.entries()) {
          await shop.pay(body.amount);
          const victim = stack.services[index % stack.services.length]!;
          if (index % 2 === 0) await victim.kill();
        }
        await eventually(async () => {
          const received = (await shop.webhooks()).filter(({ verified }) => verified);
          expect(new Set(received.map(({ body }) => body.payment_id)).size).toBe(amounts.length);
        });
        // When a dispatcher dies between an answer and recording it, the receiver may get an event again; it is then the same event.
        const events = new Set((await shop.webhooks()).map(({ body }) => `${body.payment_id} ${body.event_id}`));
        expect(events.size).toBe(amounts.length);
        const used = { requests_used: amounts.length, daily_used: amounts.length };
        // The replacement of the last killed process may not be ready yet.
        await eventually(async () => expect(await shop.limits()).toMatchObject(used), { intervalMs: 600 });
      }),
    480_000,
  );

  test('one idempotency key sent to both replicas at once creates one payment', async () => {
    const shop = await Shop.open(stack);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => insist(() => shop.create('99.99', 'the-same-key'))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await shop.limits()).toMatchObject({ requests_used: 1 });
  });
});
