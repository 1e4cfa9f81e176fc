import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import {
  readOrMakeSecrets,
  repositoryRoot,
  writePrivateJson,
  type StackDirectory,
} from '@quittance/local-stack/stack/directory.ts';
import { migrateAll } from '@quittance/local-stack/stack/migrations.ts';
import { journeyStack, type JourneyStack } from '../support/journey-stack.ts';
import { Shop } from '../support/shop.ts';
import type { Fault } from './fault.ts';
import { judge } from './rolling/judge.ts';
import { describeTraffic, emptiness, roll } from './rolling/roll.ts';
import { startTraffic } from './rolling/traffic.ts';
import { checkOut, releaseCommit, type Checkout } from './upgrade/checkout.ts';
import { addOldPayments } from './upgrade/old-payments.ts';
import { operatorsAtWork } from './upgrade/operators.ts';
import { checkTrust, removeToken, takeKeys } from './upgrade/trust-steps.ts';

const USUAL_PAYMENTS = 300_000;
const SHOPS = 10;
const ROUNDS = ['forward', 'back', 'forward'] as const;
const READER_MS = 20_000;
const QUIET_MS = 5_000;
/** A called service is upgraded before its callers: docs/upgrading.md. */
const ORDER: readonly ServiceName[] = ['quota', 'chain-watcher', 'webhook-dispatcher', 'payments', 'api-gateway'];

export const fault: Fault = {
  name: 'upgrade',
  about:
    'release 0.2.0 (--from another revision) with 300,000 (--runs) payments becomes this version under a steady load of shops, customers and ' +
    'operators, its migrations during a reader of 20 s: first the code, then keys and users of RabbitMQ, then without INTERNAL_TOKEN, each ' +
    'step forward, back, and forward again: no request fails, no message is refused, and what was paid is PAID, counted, and delivered once',
  async run({ runs, from, seed, say, onEnd }) {
    const revision = from ?? (await releaseCommit('0.2.0'));
    const earlier = await checkOut(revision);
    onEnd(() => earlier.remove());
    const { stack, directory } = await startEarlier(earlier);
    onEnd(() => stack.close());
    const payments = runs ?? USUAL_PAYMENTS;
    const shop = await Shop.open(stack);
    await addOldPayments(stack, shop, payments);

    const kinds = await operatorsAtWork(stack.file, shop.merchantId);
    const traffic = await startTraffic(stack, { shops: SHOPS, kinds });
    await delay(QUIET_MS);
    const migratedMs = await migrateBesideReader(stack);
    say(`  the migrations of all five with ${payments} payments and a reader of ${READER_MS} ms took ${migratedMs} ms`);
    const broken: string[] = [];
    for (const way of ROUNDS) {
      await delay(QUIET_MS);
      const checkout = way === 'forward' ? repositoryRoot : earlier.path;
      const saying = (line: string) => say(`  the code, ${way}:${line}`);
      broken.push(...(await roll({ stack, traffic, checkout, services: ORDER, say: saying })));
    }
    const scene = { stack, traffic, say, seed, rounds: ROUNDS };
    broken.push(...(await takeKeys(scene)));
    broken.push(...(await checkTrust(stack, { LOCAL_DIRECTORY: directory.root })));
    broken.push(...(await removeToken(scene)));
    await delay(QUIET_MS);
    await traffic.stop();
    broken.push(...traffic.late.map(({ line }) => `a request was late: ${line}`));
    broken.push(...(await judge(stack, traffic)), ...emptiness(traffic, kinds));
    return { broken, lines: describeTraffic(traffic) };
  },
};

/** Set up like release 0.2.0: with a token for all services, and no keys. */
async function startEarlier(earlier: Checkout): Promise<{ stack: JourneyStack; directory: StackDirectory }> {
  const places: StackDirectory[] = [];
  const stack = await journeyStack({
    ...{ replicas: 2, checkout: earlier.path, withoutKeys: true },
    prepare: async (directory) => {
      places.push(directory);
      const secrets = await readOrMakeSecrets(directory);
      await writePrivateJson(directory.secretsFile, { ...secrets, internal_token: randomBytes(32).toString('hex') });
    },
  });
  const [directory] = places;
  if (directory === undefined) throw new Error('the stack has no directory');
  return { stack, directory };
}

/** The reader holds a snapshot and a lock on the tables, as `pg_dump` would. @returns how long the migrations took, in milliseconds. */
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
