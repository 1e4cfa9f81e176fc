import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { ensurePool } from '@quittance/local-stack/stack/wallet-pool.ts';
import { addressOf, createDatabase, withClient } from '@quittance/postgres/roles/service-databases.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import { en } from '../../packages/checkout-page/src/languages/en.ts';
import { createApp } from '../../packages/example-shop/src/app.ts';
import { openDatabase } from '../../packages/example-shop/src/database.ts';
import { createClient } from '../../packages/sdk/src/index.ts';
import { clientAddress } from '../support/bursts.ts';
import { send, type HttpAnswer } from '../support/http.ts';
import { openMerchant, type Merchant } from '../support/merchant.ts';
import type { Check, Attack, Target } from './attack.ts';
import { ask } from './support/ask.ts';
import { addPerson } from './support/operators.ts';

/** More look-ups than all customers of a merchant share in an hour. */
const LINKS = 22;
const QUESTIONS_A_LINK = 6;
/** More orders than a merchant has creations in a minute. */
const ORDERS = 35;
/** More attempts to sign in than one address has in a minute. */
const ATTEMPTS = 12;

export const attack: Attack = {
  name: 'anonymous-neighbours',
  about: 'using up what anonymous clients share: look-ups, orders, attempts to sign in',
  checks: (target) => Promise.resolve([lookUps(target.stack), orders(target), signIns(target), metrics(target.stack)]),
};

const lookUps = (stack: StackFile): Check => ({
  name: 'an anonymous client that uses every look-up for its own links leaves the first look-ups of other links',
  async run(trial) {
    const merchant = await openMerchant(stack);
    const links = await linksOf(merchant, LINKS + 1);
    const customers = links.pop()!;
    const outcomes: string[] = [];
    for (const link of links) {
      const from = clientAddress();
      for (let question = 0; question < QUESTIONS_A_LINK; question += 1) outcomes.push(await lookUp(link, from));
    }
    const refused = outcomes.filter((outcome) => outcome === 'not read').length;
    trial.holds(refused > 0, () => `all ${outcomes.length} look-ups of a stranger were made`);
    trial.same("another customer's first question", await lookUp(customers, clientAddress()), 'unknown');
    trial.same('the second', await lookUp(customers, clientAddress()), 'unknown');
  },
});

async function linksOf(merchant: Merchant, count: number): Promise<string[]> {
  const links: string[] = [];
  for (let made = 0; made < count; made += 1)
    links.push((await merchant.created({ amount: `10.${made + 10}` })).payment_url);
  return links;
}

/** @returns `unknown`, `not read`, or any other answer. */
async function lookUp(link: string, from: string): Promise<string> {
  const answer = await ask('GET', `${link}?lang=en&transaction_id=${randomBytes(32).toString('hex')}`, { from });
  if (answer.text.includes(en.lookup.unknown)) return 'unknown';
  if (answer.text.includes(en.lookup.not_read_yet)) return 'not read';
  return `${answer.status} ${answer.text.replaceAll(/<[^>]*>/g, ' ').slice(0, 200)}`;
}

const orders = (target: Target): Check => ({
  name: 'an anonymous client that orders constantly in the example shop leaves creations for its customers',
  async run(trial) {
    const shop = await openShop(target);
    const order = (from: string): Promise<HttpAnswer> =>
      send('POST', `${shop.url}/orders`, {
        from,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'article=cup',
      });
    const stranger = clientAddress();
    const statuses: number[] = [];
    for (let count = 0; count < ORDERS; count += 1) statuses.push((await order(stranger)).status);
    trial.holds(statuses.includes(429), () => `${ORDERS} orders of one address were all taken`);
    for (let customer = 0; customer < 3; customer += 1) {
      const { status, headers } = await order(clientAddress());
      const place = headers.location ?? '';
      trial.holds(
        status === 303 && place.includes('/pay/'),
        () => `a customer was answered ${status} ${place} ${shop.lines.at(-1)}`,
      );
    }
  },
});

/** The example shop of a new merchant, in this process. */
async function openShop({ stack, onEnd }: Target): Promise<{ url: string; lines: string[] }> {
  const merchant = await openMerchant(stack);
  await ensurePool(stack.gateway_url, { api_key: merchant.apiKey }, 'shop');
  const database = `shop_${randomBytes(6).toString('hex')}`;
  await createDatabase(stack.postgres_url, database);
  const lines: string[] = [];
  const log = (line: string): void => void lines.push(line);
  const db = await openDatabase(addressOf(stack.postgres_url, { database }), log);
  const config = {
    ...{ port: 0, host: '127.0.0.1', databaseUrl: '', shopUrl: 'https://shop.example', signingKeys: {} },
    // Limits of one address at the edge are not the topic here.
    ...{ quittanceUrl: stack.gateway_url, apiKey: merchant.apiKey, walletPool: 'shop' },
    currency: 'USDT' as const,
    ...{ adminPassword: randomBytes(12).toString('hex'), reconcileSeconds: 30, trustedProxies: [] },
  };
  const quittance = createClient({ baseUrl: config.quittanceUrl, apiKey: config.apiKey, maxRetries: 0 });
  const server = createApp({ config, db, quittance, log }).listen(0, config.host);
  onEnd(async () => {
    server.closeAllConnections();
    server.close();
    await db.end();
    await withClient(stack.postgres_url, (client) => client.query(`drop database ${database} with (force)`));
  });
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lines };
}

const signIns = ({ stack, onEnd }: Target): Check => ({
  name: "a stranger who uses up the attempts at the merchants' console locks out no operator, and no other merchant",
  async run(trial) {
    const operator = await addPerson(stack, 'viewer');
    const { services } = stack;
    const merchants = await startServiceProcess(new URL('../../services/console/src/main.ts', import.meta.url), {
      API_GATEWAY_URL: services['api-gateway'].url,
      PAYMENTS_URL: services.payments.url,
      QUOTA_URL: services.quota.url,
      WEBHOOK_DISPATCHER_URL: services['webhook-dispatcher'].url,
      CHAIN_WATCHER_URL: services['chain-watcher'].url,
      ...{ CONSOLE_AUDIENCE: 'merchants', CONSOLE_TRUSTED_PROXIES: '127.0.0.0/8' },
    });
    onEnd(async () => void (await merchants.stop()));
    // All come from one address, as behind one proxy or one NAT.
    const from = clientAddress();
    const signIn = async (url: string, credential: string, forwarded: string) => {
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', 'X-Forwarded-For': forwarded };
      const body = new URLSearchParams({ credential }).toString();
      return (await send('POST', `${url}/sign-in`, { from, headers, body })).status;
    };
    const statuses: number[] = [];
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1)
      statuses.push(await signIn(merchants.url, `qm_${attempt}`, from));
    trial.same('the last attempt of the stranger', statuses.at(-1), 429);
    trial.same('an operator', await signIn(stack.console_url, operator.credential, from), 303);
    // 401, as for any wrong credential: it was checked.
    trial.same("another merchant's person", await signIn(merchants.url, 'qm_other', '203.0.113.9'), 401);
    trial.same("an operator's credential there", await signIn(merchants.url, operator.credential, '203.0.113.9'), 401);
  },
});

const metrics = (stack: StackFile): Check => ({
  name: 'metrics and probes are at no address that anonymous clients or merchants can reach',
  async run(trial) {
    for (const base of [stack.edge_url, stack.console_url]) {
      for (const path of ['/metrics', '/livez', '/readyz', '/metrics/', '//metrics', '/%6detrics', '/metrics?x']) {
        const answer = await ask('GET', base + path);
        trial.holds(answer.status === 404, () => `${base}${path} answered ${answer.status}`);
        trial.holds(!answer.text.includes('# HELP'), () => `${base}${path} showed metrics`);
      }
    }
  },
});
