import { once } from 'node:events';
import { createClient } from '@quittance/sdk';
import { createApp } from './app.ts';
import { readConfig } from './config.ts';
import { openDatabase } from './database.ts';
import { reconcile } from './reconcile.ts';
import { inOneLine, type Shop } from './shop.ts';

const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);

/** Runs the shop until SIGTERM or Ctrl-C. */
async function main(): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
  const config = readConfig(process.env);
  const db = await openDatabase(config.databaseUrl, log);
  // A customer is waiting, so a call that does not succeed soon is repeated later.
  const quittance = createClient({ baseUrl: config.quittanceUrl, apiKey: config.apiKey, maxRetries: 2 });
  const shop: Shop = { config, db, quittance, log };
  const server = createApp(shop).listen(config.port, config.host);
  await once(server, 'listening');
  log(`the shop is open at ${config.shopUrl}`);
  await reconcile(shop, stopping.signal);
  // Running requests are finished first.
  server.close();
  await once(server, 'close');
  await db.end();
}

await main().catch((error: unknown) => {
  log(`the shop cannot continue: ${inOneLine(error)}`);
  process.exit(1);
});
