import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import { requireFreePort } from '@quittance/local-backends/ports.ts';
import { forwardWebhooks, trustKey } from '../receiver/process.ts';
import { command } from '../stack/command.ts';
import { repositoryRoot, stackDirectory, StackError } from '../stack/directory.ts';
import { shopAccount, shopDatabase, shopHost, type ShopFile } from '../stack/example-shop.ts';
import { portPlan } from '../stack/ports.ts';
import { readStackFile, type StackFile } from '../stack/stack-file.ts';
import { ensurePool } from '../stack/wallet-pool.ts';

const PATIENCE_MS = 60_000;
const POOL = 'shop';

await command(async () => {
  new Command('npm run shop')
    .description('Runs the example shop (packages/example-shop) against the running stack, until Ctrl-C.')
    .allowExcessArguments(false)
    .parse();
  const directory = stackDirectory();
  const stack = await readStackFile(directory);
  const stopping = new Promise<null>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(null));
  });
  const account = await shopAccount(directory, stack);
  await ensurePool(stack.gateway_url, account.merchant, POOL);
  const url = `http://127.0.0.1:${portPlan(Number(new URL(stack.edge_url).port), 1).shop}`;
  const logFile = join(directory.logs, 'example-shop.log');
  const shop = await startShop(stack, account, url, logFile);
  try {
    await untilOpen(shop, url);
    await trustKey(stack.receiver.url, account.merchant.key_id, account.merchant.signing_key);
    await forwardWebhooks(stack.receiver.url, `${url}/webhook`, shopHost);
    console.log(summary(url, account, logFile));
    const reason = await Promise.race([shop.exited, stopping]);
    if (reason !== null) throw new StackError(`${reason}:\n${shop.lastWords()}`);
  } finally {
    // This fails when the stack has stopped, which does no harm.
    await forwardWebhooks(stack.receiver.url, null, shopHost).catch(() => undefined);
    await shop.stop();
  }
  console.log('The shop is closed. Its orders are kept.');
});

/** The shop gets only what a merchant has: an address, an account and a database. */
async function startShop(stack: StackFile, account: ShopFile, url: string, logFile: string): Promise<Child> {
  const { port } = new URL(url);
  await requireFreePort(Number(port), 'the example shop');
  const { merchant, admin_password, database_password } = account;
  return startChild({
    name: 'the example shop',
    command: process.execPath,
    args: [join(repositoryRoot, 'packages', 'example-shop', 'src', 'main.ts')],
    logFile,
    env: {
      RECONCILE_SECONDS: '10',
      ...process.env,
      NODE_OPTIONS: '',
      ...{ PORT: port, HOST: '127.0.0.1' },
      DATABASE_URL: await shopDatabase(stack, database_password),
      SHOP_URL: url,
      QUITTANCE_URL: stack.edge_url,
      QUITTANCE_API_KEY: merchant.api_key,
      QUITTANCE_SIGNING_KEYS: `${merchant.key_id}=${merchant.signing_key}`,
      WALLET_POOL: POOL,
      ADMIN_PASSWORD: admin_password,
    },
  });
}

async function untilOpen(shop: Child, url: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (shop.running() && Date.now() < deadline) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => null);
    if (answer?.ok === true) return;
    await delay(50);
  }
  throw new StackError(`The example shop did not open:\n${shop.lastWords()}`);
}

function summary(url: string, { admin_password }: ShopFile, logFile: string): string {
  return `
The example shop is open.
  shop          ${url}
  pay           npm run pay -- <address of the checkout page>, in another terminal; with --amount 49 as one who sends too little
  orders        ${url}/admin   (any name, password ${admin_password})
  log           ${logFile}
  source        packages/example-shop
Ctrl-C closes it; orders are kept.`;
}
