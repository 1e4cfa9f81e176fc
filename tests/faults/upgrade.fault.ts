import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { migrateAll } from '@quittance/local-stack/stack/migrations.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';
import type { Fault } from './fault.ts';
import { judge } from './rolling/judge.ts';
import { describeTraffic, emptiness, roll } from './rolling/roll.ts';
import { startTraffic } from './rolling/traffic.ts';
import { checkOut, revisionBeforeLastMigration } from './upgrade/checkout.ts';
import { addOldPayments } from './upgrade/old-payments.ts';

const USUAL_PAYMENTS = 300_000;
const SHOPS = 10;
const READER_MS = 20_000;
const QUIET_MS = 5_000;
/** Who is asked comes before who asks: docs/upgrading.md. */
const ORDER: readonly ServiceName[] = ['quota', 'chain-watcher', 'webhook-dispatcher', 'payments', 'api-gateway'];

export const fault: Fault = {
  name: 'upgrade',
  about:
    'an earlier version (--from a revision; the one before the last migration unless given) with 300,000 (--runs) payments becomes this one ' +
    'under a steady load, its migrations beside a reader of 20 s; then it goes back, and forward again: no request fails, and what was paid ' +
    'is PAID, counted, and delivered once',
  async run({ runs, from, say, onEnd }) {
    const revision = from ?? (await revisionBeforeLastMigration());
    const earlier = await checkOut(revision);
    onEnd(() => earlier.remove());
    const stack = await journeyStack({ replicas: 2, checkout: earlier.path });
    onEnd(() => stack.close());
    const payments = runs ?? USUAL_PAYMENTS;
    await addOldPayments(stack, await Shop.open(stack), payments);

    const traffic = await startTraffic(stack, { shops: SHOPS });
    await delay(QUIET_MS);
    const migratedMs = await migrateBesideReader(stack);
    say(
      `  the migrations of all five beside ${payments} payments and a reader of ${READER_MS} ms took ${migratedMs} ms`,
    );
    const broken: string[] = [];
    for (const [to, checkout] of [
      ['this version', repositoryRoot],
      [`back to ${revision}`, earlier.path],
      ['this version again', repositoryRoot],
    ] as const) {
      await delay(QUIET_MS);
      broken.push(
        ...(await roll({ stack, traffic, checkout, services: ORDER, say: (line) => say(`  ${to}:${line}`) })),
      );
    }
    await delay(QUIET_MS);
    await traffic.stop();
    broken.push(...traffic.late.map(({ line }) => `a request was late: ${line}`));
    broken.push(...(await judge(stack, traffic)), ...emptiness(traffic));
    return { broken, lines: describeTraffic(traffic) };
  },
};

/** As `pg_dump` would, the reader holds a snapshot and a lock on the tables. @returns how long the migrations took, in milliseconds. */
async function migrateBesideReader({ file, backends }: JourneyStack): Promise<number> {
  const reader = new pg.Client({ connectionString: file.postgres_url });
  await reader.connect();
  try {
    await reader.query('begin isolation level repeatable read');
    for (const table of ['payments.payment', 'webhooks.event', 'chain.transfer', 'gateway.merchant']) {
      await reader.query(`select count(*) from ${table}`);
    }
    const startedAt = performance.now();
    const reading = delay(READER_MS).then(() => reader.query('commit'));
    await Promise.all([migrateAll(backends.databaseUrls, repositoryRoot), reading]);
    return Math.round(performance.now() - startedAt);
  } finally {
    await reader.end();
  }
}
