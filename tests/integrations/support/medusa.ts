import { join } from 'node:path';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { addressOf, createDatabase } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import { send } from '../../support/http.ts';
import type { ShopProject } from './shop-project.ts';

const cli = join('node_modules', '@medusajs', 'cli', 'cli.js');
export const administrator = { email: 'olga@shop.example', password: 'correct-horse' };

export type Session = { id: string; status: string; data: Record<string, unknown> };
export type Cart = { id: string; total: number };
export type Order = {
  id: string;
  display_id: number;
  payment_status: string;
  payment_collections: {
    captured_amount: number;
    payments: { id: string; data: Record<string, unknown>; captures: { amount: number }[] }[];
  }[];
};

/** The admin's part of the shop, which needs a minute to build. */
export const buildMedusa = async (project: ShopProject): Promise<void> =>
  void (await project.run([cli, 'build'], { ...needed, DATABASE_URL: 'postgres://127.0.0.1/unused' }));

/** What the configuration reads, also where nothing is started. */
const needed = {
  QUITTANCE_URL: 'http://127.0.0.1',
  QUITTANCE_API_KEY: 'unused',
  QUITTANCE_KEY_ID: 'whk_unused',
  QUITTANCE_SIGNING_KEY: 'whsec_unused',
  WALLET: 'unused',
  STOREFRONT_URL: 'http://127.0.0.1',
  MEDUSA_URL: 'http://127.0.0.1',
  SECRET: 'a-secret-of-this-test',
  MEDUSA_DISABLE_TELEMETRY: 'true',
};

/** A shop with one article, in euros and in dollars. */
export class MedusaShop {
  readonly url: string;
  readonly #project: ShopProject;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logFile: string;
  #child: Child | null = null;
  #token = '';
  key = '';
  #variant = '';
  readonly regions: Record<'eur' | 'usd', string> = { eur: '', usd: '' };

  private constructor(project: ShopProject, port: number, env: NodeJS.ProcessEnv, logFile: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#project = project;
    this.#env = { ...needed, ...env, MEDUSA_URL: this.url, PORT: String(port), HOST: '127.0.0.1' };
    this.#logFile = logFile;
  }

  /** @param env what the configuration reads of Quittance and the storefront. */
  static async open(
    project: ShopProject,
    { stack, port, env, logFile }: { stack: StackFile; port: number; env: NodeJS.ProcessEnv; logFile: string },
  ): Promise<MedusaShop> {
    await createDatabase(stack.postgres_url, 'medusa');
    const database = addressOf(stack.postgres_url, { database: 'medusa' });
    const shop = new MedusaShop(project, port, { ...env, DATABASE_URL: database }, logFile);
    await project.run([cli, 'db:migrate'], shop.#env);
    await project.run([cli, 'user', '-e', administrator.email, '-p', administrator.password], shop.#env);
    await shop.start();
    await shop.#fill();
    return shop;
  }

  async start(): Promise<void> {
    const child = await startChild({
      name: 'Medusa',
      command: process.execPath,
      args: [join(this.#project.directory, cli), 'start'],
      // As it was built, with the admin.
      cwd: join(this.#project.directory, '.medusa', 'server'),
      env: { ...ownEnvironment(), ...this.#env, NODE_ENV: 'production' },
      logFile: this.#logFile,
    });
    this.#child = child;
    await eventually(async () => {
      if (!child.running()) throw new Error(`Medusa did not start:\n${child.lastWords()}`);
      const answer = await fetch(`${this.url}/health`).catch(() => null);
      if (answer?.ok !== true) throw new Error(`Medusa is not ready:\n${child.lastWords()}`);
    });
    const { token } = await this.#call<{ token: string }>('POST', '/auth/user/emailpass', {}, administrator);
    this.#token = token;
  }

  stop = async (): Promise<void> => this.#child?.stop();
  /** Like a power cut. */
  kill = async (): Promise<void> => this.#child?.kill();

  admin<T>(method: string, path: string, body?: object): Promise<T> {
    return this.#call<T>(method, `/admin${path}`, { authorization: `Bearer ${this.#token}` }, body);
  }

  store<T>(method: string, path: string, body?: object): Promise<T> {
    return this.#call<T>(method, `/store${path}`, { 'x-publishable-api-key': this.key }, body);
  }

  async newCart(currency: 'eur' | 'usd' = 'eur'): Promise<Cart> {
    const { cart } = await this.store<{ cart: Cart }>('POST', '/carts', {
      region_id: this.regions[currency],
      email: 'anna@customer.example',
      items: [{ variant_id: this.#variant, quantity: 1 }],
    });
    return cart;
  }

  /** What the storefront's button does. */
  async startPayment(cart: Cart, provider = 'pp_quittance_usdt', returnUrl?: string): Promise<Session> {
    type Collection = { payment_collection: { id: string; payment_sessions: Session[] } };
    const { payment_collection: collection } = await this.store<Collection>('POST', '/payment-collections', {
      cart_id: cart.id,
    });
    const { payment_collection: started } = await this.store<Collection>(
      'POST',
      `/payment-collections/${collection.id}/payment-sessions`,
      { provider_id: provider, data: { return_url: returnUrl } },
    );
    return started.payment_sessions[0]!;
  }

  /** Orders of a cart's payment. */
  async ordersOf(paymentId: unknown): Promise<Order[]> {
    const fields =
      '*payment_collections,*payment_collections.payments,*payment_collections.payments.captures,payment_status';
    const { orders } = await this.admin<{ orders: Order[] }>('GET', `/orders?limit=100&fields=${fields}`);
    return orders.filter(({ payment_collections }) =>
      payment_collections.some(({ payments }) => payments.some(({ data }) => data['payment_id'] === paymentId)),
    );
  }

  async #fill(): Promise<void> {
    const { sales_channels } = await this.admin<{ sales_channels: [{ id: string }] }>('GET', '/sales-channels');
    const channel = sales_channels[0].id;
    const { stores } = await this.admin<{ stores: [{ id: string }] }>('GET', '/stores');
    await this.admin('POST', `/stores/${stores[0].id}`, {
      supported_currencies: [{ currency_code: 'eur', is_default: true }, { currency_code: 'usd' }],
    });
    for (const [currency, country, provider] of [
      ['eur', 'de', 'pp_quittance_usdt'],
      ['usd', 'us', 'pp_quittance_dollars'],
    ] as const) {
      const region = { name: country, currency_code: currency, countries: [country], payment_providers: [provider] };
      this.regions[currency] = (await this.admin<{ region: { id: string } }>('POST', '/regions', region)).region.id;
    }
    const { api_key: key } = await this.admin<{ api_key: { id: string; token: string } }>('POST', '/api-keys', {
      ...{ title: 'storefront', type: 'publishable' },
    });
    await this.admin('POST', `/api-keys/${key.id}/sales-channels`, { add: [channel] });
    this.key = key.token;
    const { product } = await this.admin<{ product: { variants: [{ id: string }] } }>('POST', '/products', {
      ...{ title: 'Tea bowl', status: 'published', sales_channels: [{ id: channel }] },
      options: [{ title: 'Size', values: ['One'] }],
      variants: [
        {
          ...{ title: 'One', options: { Size: 'One' }, manage_inventory: false },
          prices: ['eur', 'usd'].map((currency_code) => ({ amount: 12.5, currency_code })),
        },
      ],
    });
    this.#variant = product.variants[0].id;
  }

  async #call<T>(method: string, path: string, headers: Record<string, string>, body?: object): Promise<T> {
    const answer = await send(method, this.url + path, { headers, ...(body !== undefined && { body }) });
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status} ${answer.text}`);
    return answer.json<T>();
  }
}
