import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@quittance/contracts/ids.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/payment.ts';
import { freePort } from '@quittance/local-backends/ports.ts';
import { startPostgres } from '@quittance/local-backends/postgres.ts';
import type { Client } from 'pg';
import { withDatabase } from '../../support/database.ts';
import { startLoneService } from '../../support/lone-service.ts';
import { serviceDatabase } from '../../support/service-database.ts';
import { networks } from './networks.ts';
import { startPaymentsStandIn, type PaymentsStandIn } from './payments-stand-in.ts';

export type Stage = {
  origin: string;
  payments: PaymentsStandIn;
  /** The address of a checkout page that shows this. */
  show(checkout: CheckoutPayment): string;
  /** A merchant whose shop has that name. @returns its id. */
  shopCalled(name: string): Promise<string>;
  /** Has the page at that address show something else from now on. */
  change(url: string, checkout: CheckoutPayment): void;
  close(): Promise<void>;
};

/** Nothing of the checkout page goes through the broker, so there is none: the gateway goes on trying to reach it. */
const NO_BROKER = 'amqp://127.0.0.1:1';

/**
 * The gateway's own process on its own PostgreSQL, with a stand-in for payments: the page is made as in production, and shows whatever a
 * test wants to see of it. Whole systems are started by the journeys.
 */
export async function openStage(): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-browser-'));
  // PostgreSQL's own user, when we are root, has to pass through.
  await chmod(directory, 0o711);
  const stops: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  const close = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  try {
    await mkdir(join(directory, 'postgres'));
    const server = await startPostgres({
      directory: join(directory, 'postgres'),
      port: await freePort(),
      logFile: join(directory, 'postgres.log'),
      durable: false,
    });
    stops.push(() => server.kill());
    const payments = await startPaymentsStandIn();
    stops.push(() => payments.close());
    const gateway = await startGateway(directory, server.url, payments.url);
    stops.push(() => gateway.stop());
    return {
      origin: gateway.origin,
      payments,
      shopCalled: (name) => withDatabase(gateway.databaseUrl, (db) => addShop(db, name)),
      show: (checkout) => `${gateway.origin}/pay/${payments.add(checkout)}`,
      change: (url, checkout) => payments.change(new URL(url).pathname.split('/').at(-1) ?? '', checkout),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startGateway(directory: string, adminUrl: string, paymentsUrl: string) {
  const database = await serviceDatabase({
    ...{ service: 'api-gateway', adminUrl, database: 'api_gateway', password: 'only for a test' },
  });
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify(networks));
  const service = await startLoneService({
    name: 'api-gateway',
    directory: join(directory, 'gateway'),
    databaseUrl: database.url,
    amqpUrl: NO_BROKER,
    env: { PAYMENTS_URL: paymentsUrl, WEBHOOK_DISPATCHER_URL: 'http://127.0.0.1:1', NETWORKS_FILE: networksFile },
  });
  return { ...service, databaseUrl: database.url };
}

async function addShop(db: Client, name: string): Promise<string> {
  const id = newId('mer');
  await db.query('insert into merchant (merchant_id, name, display_name) values ($1, $2, $2)', [id, name]);
  return id;
}
