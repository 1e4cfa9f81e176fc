import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@quittance/contracts/ids.ts';
import type { CheckoutPayment } from '@quittance/contracts/api/checkout.ts';
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
  /** The URL of a checkout page that shows this payment. */
  show(checkout: CheckoutPayment): string;
  /** Creates a merchant with this shop name. @returns its id. */
  shopCalled(name: string, embedOrigins?: string[]): Promise<string>;
  /** Changes what the page at that URL shows from now on. */
  change(url: string, checkout: CheckoutPayment): void;
  close(): Promise<void>;
};

/** Nothing of the checkout page uses the broker, so there is none. The gateway keeps trying to connect to it. */
const NO_BROKER = 'amqp://127.0.0.1:1';

/**
 * The gateway's own process on its own PostgreSQL, with a replacement for payments. The page is rendered as in production, and shows what a
 * test sets. Complete systems are tested by the journeys.
 */
export async function openStage(): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-browser-'));
  // If the tests run as root, PostgreSQL's own user has to pass through this folder.
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
      shopCalled: (name, embedOrigins) => withDatabase(gateway.databaseUrl, (db) => addShop(db, name, embedOrigins)),
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

async function addShop(db: Client, name: string, embedOrigins: string[] | null = null): Promise<string> {
  const id = newId('mer');
  await db.query('insert into merchant (merchant_id, name, display_name, embed_origins) values ($1, $2, $2, $3)', [
    ...[id, name],
    embedOrigins,
  ]);
  return id;
}
