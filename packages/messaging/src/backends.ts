import { startClockComparison } from '@quittance/postgres/clock-difference.ts';
import { isLoginRefused } from '@quittance/postgres/errors.ts';
import { parseAddress } from '@quittance/postgres/address.ts';
import { createPool, ping, type Pool } from '@quittance/postgres/pool.ts';
import { checkSession, SessionRefused } from '@quittance/postgres/session.ts';
import type { Lifecycle } from '@quittance/runtime/lifecycle.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import { systemClock } from '@quittance/runtime/time.ts';
import type { Trust } from '@quittance/runtime/trust.ts';
import { waitFor } from '@quittance/runtime/wait-for.ts';
import { connectBroker, type Broker } from './broker/broker.ts';
import { createLegacyRecord, type LegacyRecord } from './legacy-use.ts';
import { createOutbox, type Outbox } from './outbox/outbox.ts';

/** Longer than a database needs to start or to fail over. After that the supervisor restarts the process. */
const DATABASE_TIMEOUT_MS = 60_000;

type Backends = {
  pool: Pool;
  /** One connection for operators' routes: even when all of `pool` is in use, operators can find the cause and stop it. */
  operators: Pool;
  broker: Broker;
  outbox: Outbox;
  legacy: LegacyRecord;
  /** See connectBackends(). */
  reachable: () => Promise<void>;
  /** This process's clock minus the database's, in milliseconds; null until they are compared, right after the database first answers. */
  clockDifferenceMs: () => number | null;
  /**
   * Throws when the database does not answer or takes no changes. It has its own connection, so a busy pool is no reason to restart the
   * process.
   * @returns which queues of this service it cannot consume; see docs/runbooks/messages.md.
   */
  ready: () => Promise<{ unusable_queues: string[] }>;
};

/**
 * Opens what every service that sends messages needs: its database, the broker, and the outbox. Returns immediately, even if they are
 * unreachable. All are closed when the process stops, the outbox first.
 * @param schema the service's own, the only one its role can use.
 * @returns them, and `reachable`, which resolves once the service can start: when the database answers as checkSession() wants it, and the
 *   broker accepts the login or is unreachable (parts that need the broker wait for it). It throws after 60 s without a database, and immediately when one of the two
 *   refuses the login, because the configuration is wrong.
 */
export function connectBackends({
  name,
  schema,
  config,
  logger,
  metrics,
  lifecycle,
}: {
  name: string;
  schema: string;
  config: { databaseUrl: string; databasePoolSize: number; amqpUrl: string; trust: Trust };
  logger: Logger;
  metrics: Metrics;
  lifecycle: Lifecycle;
}): Backends {
  const openPool = (applicationName: string, max: number): Pool => {
    const opened = createPool({ url: config.databaseUrl, schema, max, logger, applicationName, metrics });
    lifecycle.onStop(`database of ${applicationName}`, () => opened.end());
    return opened;
  };
  const pool = openPool(name, config.databasePoolSize - 2);
  const operators = openPool(`${name} operators`, 1);
  const readiness = openPool(`${name} readiness`, 1);
  const broker = lifecycle.closing('broker', connectBroker({ url: config.amqpUrl, name, logger, metrics }));
  const outbox = lifecycle.closing(
    'outbox',
    createOutbox({ pool, broker, signer: config.trust.signer, logger, metrics }),
  );
  const legacy = lifecycle.closing(
    'legacy record',
    createLegacyRecord({ pool: operators, trust: config.trust, logger, metrics }),
  );
  let clockDifferenceMs = (): number | null => null;
  const reachable = async (): Promise<void> => {
    const wait = { name: 'the database', timeoutMs: DATABASE_TIMEOUT_MS, logger, signal: lifecycle.stopping };
    await waitFor({ ...wait, check: () => checkDatabase(pool, schema, config.databaseUrl), isRefusal });
    const comparison = startClockComparison({ pool: readiness, clock: systemClock, logger, metrics });
    legacy.start();
    clockDifferenceMs = lifecycle.closing('clock comparison', comparison).differenceMs;
    const refusal = await broker.loginRefusal();
    if (refusal !== null) throw new Error(`RabbitMQ refuses this process: ${refusal}`);
  };
  return {
    pool,
    operators,
    broker,
    outbox,
    legacy,
    reachable,
    clockDifferenceMs: () => clockDifferenceMs(),
    ready: async () => {
      await ping(readiness);
      return { unusable_queues: [...broker.unusableQueues] };
    },
  };
}

async function checkDatabase(pool: Pool, schema: string, url: string): Promise<void> {
  await checkSession(pool, schema, parseAddress(url));
  await ping(pool);
}

const isRefusal = (error: unknown): boolean => isLoginRefused(error) || error instanceof SessionRefused;
