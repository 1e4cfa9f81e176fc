import { join } from 'node:path';
import { startChild, type Child } from '@quittance/local-backends/child.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { addressOf, createDatabase } from '@quittance/postgres/roles/service-databases.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { ownEnvironment } from '../../support/journey-stack.ts';
import { send } from '../../support/http.ts';
import type { ShopProject } from './shop-project.ts';

export const administrator = { name: 'olga', password: 'correct-horse' };

export type StartedPayment = {
  paymentId: string;
  checkoutUrl: string;
  status: string;
  amount: string;
  receivedAmount: string | null;
};

type Payment = {
  id: string;
  amount: number;
  state: string;
  transactionId: string;
  metadata: Record<string, unknown>;
};
export type Order = {
  id: string;
  code: string;
  state: string;
  payments: Payment[];
  history: { items: { data: object }[] };
};

const ORDER = `id code state payments { id amount state transactionId metadata } history { items { data } }`;

/** A shop with one article, in euros. */
export class VendureShop {
  readonly url: string;
  readonly #project: ShopProject;
  readonly #env: NodeJS.ProcessEnv;
  readonly #logFile: string;
  #child: Child | null = null;
  #token = '';
  #variant = '';

  private constructor(project: ShopProject, port: number, env: NodeJS.ProcessEnv, logFile: string) {
    this.url = `http://127.0.0.1:${port}`;
    this.#project = project;
    const { name: ADMIN_NAME, password: ADMIN_PASSWORD } = administrator;
    this.#env = { ...env, ADMIN_NAME, ADMIN_PASSWORD, SECRET: 'a-secret-of-this-test', PORT: String(port) };
    this.#env['VENDURE_DISABLE_TELEMETRY'] = 'true';
    this.#logFile = logFile;
  }

  /** @param env what the configuration reads of Quittance and the storefront. */
  static async open(
    project: ShopProject,
    { stack, port, env, logFile }: { stack: StackFile; port: number; env: NodeJS.ProcessEnv; logFile: string },
  ): Promise<VendureShop> {
    await createDatabase(stack.postgres_url, 'vendure');
    const database = addressOf(stack.postgres_url, { database: 'vendure' });
    const shop = new VendureShop(project, port, { ...env, DATABASE_URL: database }, logFile);
    await project.run(['populate.js'], shop.#env);
    await shop.start();
    await shop.#fill();
    return shop;
  }

  async start(): Promise<void> {
    const child = await startChild({
      name: 'Vendure',
      command: process.execPath,
      args: [join(this.#project.directory, 'start.js')],
      cwd: this.#project.directory,
      env: { ...ownEnvironment(), ...this.#env },
      logFile: this.#logFile,
    });
    this.#child = child;
    await eventually(async () => {
      if (!child.running()) throw new Error(`Vendure did not start:\n${child.lastWords()}`);
      const answer = await fetch(`${this.url}/health`).catch(() => null);
      if (answer?.ok !== true) throw new Error(`Vendure is not ready:\n${child.lastWords()}`);
    });
    const { headers } = await this.#send(
      'admin-api',
      '',
      `mutation ($name: String!, $password: String!) {
      login(username: $name, password: $password) { ... on CurrentUser { id } }
    }`,
      administrator,
    );
    this.#token = String(headers['vendure-auth-token']);
  }

  stop = async (): Promise<void> => this.#child?.stop();

  async admin<T>(query: string, variables: object = {}): Promise<T> {
    return (await this.#send<T>('admin-api', this.#token, query, variables)).data;
  }

  /** The session of a new customer, who has put one article into the order and chosen everything but how to pay. */
  async newCustomer(quantity = 1): Promise<Customer> {
    const filling = `mutation ($variant: ID!, $quantity: Int!) {
      addItemToOrder(productVariantId: $variant, quantity: $quantity) { ... on Order { code } }
    }`;
    const first = await this.#send('shop-api', '', filling, { variant: this.#variant, quantity });
    const token = String(first.headers['vendure-auth-token']);
    const call = async <T>(query: string, variables: object = {}): Promise<T> =>
      (await this.#send<T>('shop-api', token, query, variables)).data;
    await call(`mutation {
      setCustomerForOrder(input: { firstName: "Anna", lastName: "A", emailAddress: "anna-${Math.random()}@customer.example" }) {
        ... on Order { code }
      }
      setOrderShippingAddress(input: { streetLine1: "Weg 1", city: "Berlin", postalCode: "10115", countryCode: "DE" }) {
        ... on Order { code }
      }
    }`);
    const { methods } = await call<{ methods: [{ id: string }] }>('{ methods: eligibleShippingMethods { id } }');
    await call('mutation ($ids: [ID!]!) { setOrderShippingMethod(shippingMethodId: $ids) { ... on Order { code } } }', {
      ids: [methods[0].id],
    });
    const { order } = await call<{ order: { code: string } }>('{ order: activeOrder { code } }');
    return { token, code: order.code, call };
  }

  async order(code: string): Promise<Order> {
    const query = `query ($code: String!) { orders(options: { filter: { code: { eq: $code } } }) { items { ${ORDER} } } }`;
    const { orders } = await this.admin<{ orders: { items: Order[] } }>(query, { code });
    return orders.items[0]!;
  }

  async #fill(): Promise<void> {
    await this.admin(`mutation {
      updateChannel(input: { id: 1, defaultCurrencyCode: EUR, availableCurrencyCodes: [EUR, USD] }) { ... on Channel { id } }
    }`);
    const { product } = await this.admin<{ product: { id: string } }>(`mutation {
      product: createProduct(input: {
        enabled: true, translations: [{ languageCode: en, name: "Tea bowl", slug: "tea-bowl", description: "" }]
      }) { id }
    }`);
    const { variants } = await this.admin<{ variants: [{ id: string }] }>(
      `mutation ($product: ID!) {
        variants: createProductVariants(input: [{
          productId: $product, sku: "bowl", trackInventory: FALSE, price: 1250,
          translations: [{ languageCode: en, name: "Tea bowl" }]
        }]) { id }
      }`,
      { product: product.id },
    );
    this.#variant = variants[0].id;
  }

  async #send<T>(api: string, token: string, query: string, variables: object) {
    const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
    const answer = await send('POST', `${this.url}/${api}`, { headers, body: { query, variables } });
    const { data, errors } = answer.json<{ data: T; errors?: { message: string }[] }>();
    if (errors !== undefined) throw new Error(`${query} answered ${JSON.stringify(errors)}`);
    return { data, headers: answer.headers };
  }
}

export type Customer = { token: string; code: string; call<T>(query: string, variables?: object): Promise<T> };

/** What the storefront's button does. */
export async function startPayment(customer: Customer, returnUrl?: string): Promise<StartedPayment> {
  await customer.call('mutation { transitionOrderToState(state: "ArrangingPayment") { ... on Order { code } } }');
  return paymentOf(customer, returnUrl);
}

/** The payment of the customer's order, as it is now. */
export async function paymentOf(customer: Customer, returnUrl?: string): Promise<StartedPayment> {
  const { payment } = await customer.call<{ payment: StartedPayment }>(
    `mutation ($returnUrl: String) {
      payment: createQuittancePayment(returnUrl: $returnUrl) { paymentId checkoutUrl status amount receivedAmount }
    }`,
    { returnUrl },
  );
  return payment;
}
