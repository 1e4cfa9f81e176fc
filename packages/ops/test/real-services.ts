import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AccessPolicy, CreationLimits } from '@quittance/contracts/access.ts';
import { AccessChanged } from '@quittance/contracts/messages.ts';
import { testBroker } from '@quittance/testkit/broker.ts';
import { testDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { insist } from '@quittance/testkit/insist.ts';
import { faultProxy } from '@quittance/testkit/fault-proxy.ts';
import { startNeighbours } from '@quittance/testkit/neighbours.ts';
import { startServiceProcess } from '@quittance/testkit/service-process.ts';
import type { ServiceName } from '@quittance/contracts/service-name.ts';
import { createCallerHeaders } from '@quittance/http/call-token.ts';
import { trustOf, trustSettingsOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import * as gatewayDatabase from '../../../services/api-gateway/src/migrations.ts';
import * as paymentsDatabase from '../../../services/payments/src/migrations.ts';
import * as quotaDatabase from '../../../services/quota/src/migrations.ts';
import * as webhooksDatabase from '../../../services/webhook-dispatcher/src/migrations.ts';
import { runOps } from './world.ts';

const network = 'local';
const networks = [
  {
    ...{ id: network, family: 'evm', chain_id: 31337, rpc_urls: ['http://127.0.0.1:1'] },
    ...{ usdt_contract: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6, confirmations: 2 },
    ...{
      finality: 'confirmations',
      poll_interval_ms: 100,
      asleep_poll_interval_ms: 100,
      explorer_transaction_url: null,
    },
  },
];

type Answer<T = unknown> = { status: number; body: T };
type ServiceKey = 'api-gateway' | 'quota' | 'payments' | 'webhook-dispatcher';
/** What a process shows a service. */
export const callHeaders = (service: ServiceName, caller: KeyHolder): Record<string, string> =>
  createCallerHeaders(caller, trustOf(caller))(service);

export type RealServices = Awaited<ReturnType<typeof startRealServices>>;
export type RealMerchant = { merchant_id: string; api_key: string; rotation_secret: string };
export type Creation = { status: number; code: string | null };

const mainOf = (service: ServiceKey): URL => new URL(`../../../services/${service}/src/main.ts`, import.meta.url);

/**
 * The services that an operator's commands reach, as processes of their own: quota, webhook-dispatcher, api-gateway and two replicas
 * of payments, each on its own database, all on one broker. Between quota and the broker, and the gateway and the broker, are proxies
 * that can hold messages back. No chain: nothing is paid here.
 * @param more settings of api-gateway and webhook-dispatcher besides their own.
 */
export async function startRealServices({
  gateway: more = {},
  webhooks: moreWebhooks = {},
}: { gateway?: Record<string, string>; webhooks?: Record<string, string> } = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'quittance-operator-'));
  const networksFile = join(directory, 'networks.json');
  await writeFile(networksFile, JSON.stringify(networks));
  const broker = await testBroker();
  const [gateway, quota, payments, webhooks] = await Promise.all(
    [gatewayDatabase, quotaDatabase, paymentsDatabase, webhooksDatabase].map(({ schema, migrations }) =>
      testDatabase({ schema, migrations }),
    ),
  );
  const held = { quota: await faultProxy({ target: broker.url }), gateway: await faultProxy({ target: broker.url }) };
  const common = { NETWORKS_FILE: networksFile, AMQP_URL: broker.url };

  const [quotaProcess, webhooksProcess] = await Promise.all([
    startServiceProcess(mainOf('quota'), {
      ...{ ...common, ...trustSettingsOf('quota') },
      DATABASE_URL: quota!.url,
      AMQP_URL: held.quota.url,
    }),
    startServiceProcess(mainOf('webhook-dispatcher'), {
      ...{ ...common, ...trustSettingsOf('webhook-dispatcher') },
      DATABASE_URL: webhooks!.url,
      WEBHOOK_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      // Nothing is delivered here; every name resolves, so that an endpoint can be set.
      WEBHOOK_LOCAL_RECEIVER: '127.0.0.1:1',
      ...moreWebhooks,
    }),
  ]);
  const peers = { QUOTA_URL: quotaProcess.url, WEBHOOK_DISPATCHER_URL: webhooksProcess.url };
  const replicaSettings = {
    ...{
      ...common,
      ...peers,
      ...trustSettingsOf('payments'),
      DATABASE_URL: payments!.url,
      CHAIN_WATCHER_URL: 'http://127.0.0.1:1',
      WALLET_POOL_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    },
    PUBLIC_BASE_URL: 'https://pay.example',
  };
  const replicas = await Promise.all([1, 2].map(() => startServiceProcess(mainOf('payments'), replicaSettings)));
  const PAYMENTS_URL = replicas[0]!.url;
  const gatewaySettings = {
    ...common,
    ...peers,
    ...trustSettingsOf('api-gateway'),
    PAYMENTS_URL,
    DATABASE_URL: gateway!.url,
    AMQP_URL: held.gateway.url,
    ...more,
  };
  const gatewayProcess = await startServiceProcess(mainOf('api-gateway'), gatewaySettings);
  const neighbours = await startNeighbours({ amqpUrl: broker.url, consumes: {}, signer: trustOf('quota').signer });
  const pools = {
    gateway: testPool({ url: gateway!.url, schema: gatewayDatabase.schema, max: 1 }),
    payments: testPool({ url: payments!.url, schema: 'payments', max: 2 }),
    quota: testPool({ url: quota!.url, schema: 'quota', max: 2 }),
  };

  const urls = {
    'api-gateway': gatewayProcess.url,
    quota: quotaProcess.url,
    payments: PAYMENTS_URL,
    'webhook-dispatcher': webhooksProcess.url,
  };
  /** All that the command line is told, and it is told nothing else. */
  const env = {
    ...trustSettingsOf('ops'),
    API_GATEWAY_URL: urls['api-gateway'],
    PAYMENTS_URL: urls.payments,
    QUOTA_URL: urls.quota,
    WEBHOOK_DISPATCHER_URL: urls['webhook-dispatcher'],
    AMQP_URL: broker.url,
  };

  async function call<T>(
    base: string,
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ) {
    // On a busy machine one service may not answer another in time. A caller that gets that answer asks again.
    return insist(async (): Promise<Answer<T>> => {
      const response = await fetch(`${base}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as T };
    });
  }
  const internal = <T>(service: ServiceKey, method: 'GET' | 'POST', path: string, body?: object) =>
    call<T>(
      ...([urls[service], method, `/internal/v1${path}`] as const),
      body && { actor: 'olga', reason: 'test', ...body },
      callHeaders(service, 'ops'),
    );

  let nextReplica = 0;
  /** Asks a replica of payments, the next one in turn, as the gateway would once it has let the request in. */
  async function create(merchantId: string): Promise<Creation> {
    const { url } = replicas[nextReplica++ % replicas.length]!;
    const creation = {
      ...{ idempotency_key: randomUUID(), amount: '1', network, description: 'Two tickets' },
      merchant_wallet: `0x${randomBytes(20).toString('hex')}`,
    };
    const path = `/internal/v1/merchants/${merchantId}/payments`;
    const { status, body } = await call<{ detail?: { code?: string } }>(
      ...([url, 'POST', path, creation, callHeaders('payments', 'api-gateway')] as const),
    );
    return { status, code: body.detail?.code ?? null };
  }

  const gateVersion = async (merchantId: string): Promise<number> => {
    const { status, body } = await internal<AccessPolicy>('payments', 'GET', `/merchants/${merchantId}/gate`);
    return status === 200 ? body.policy_version : 0;
  };

  return {
    env,
    held,
    pools,
    internal,
    create,
    /** The command line, run by olga. */
    ops: (words: string[]) => runOps(words, { ...env, USER: 'olga' }),
    /** As a merchant, through the gateway. */
    asMerchant: <T>({ api_key }: RealMerchant, method: string, path: string, body?: object, headers = {}) =>
      call<T>(urls['api-gateway'], method, `/api/v1${path}`, body, { 'x-api-key': api_key, ...headers }),
    limits: async (merchantId: string) =>
      (
        await internal<Omit<CreationLimits, 'last_api_request_at'>>(
          'payments',
          'GET',
          `/merchants/${merchantId}/limits`,
        )
      ).body,
    untilEnforced: (merchantId: string, version: number) =>
      eventually(async () => {
        if ((await gateVersion(merchantId)) < version) throw new Error(`payments has not applied version ${version}`);
      }),
    /** A merchant with a webhook, known everywhere. */
    async merchant(access: object): Promise<RealMerchant> {
      const registered = await internal<RealMerchant>('api-gateway', 'POST', '/merchants', { name: 'Shop', ...access });
      const { merchant_id: id, api_key } = registered.body;
      await eventually(async () => {
        if ((await gateVersion(id)) < 1) throw new Error('payments does not know the merchant');
      });
      const url = 'https://shop.example/hook';
      const put = await call(urls['api-gateway'], 'PUT', '/api/v1/merchant/webhook', { url }, { 'x-api-key': api_key });
      if (put.status !== 200) throw new Error(`the webhook answered ${put.status}`);
      return registered.body;
    },
    /** Tells payments of policies in this order, and waits until it has taken them all. */
    async tell(policies: readonly AccessPolicy[]): Promise<void> {
      const ids = policies.map(() => randomUUID());
      for (const [at, policy] of policies.entries()) {
        await neighbours.publish(AccessChanged, { ...policy, changed_at: '2026-01-31T12:00:00.000Z' }, ids[at]);
      }
      await eventually(async () => {
        const { rowCount } = await pools.payments.query('select from inbox where message_id = any($1::uuid[])', [ids]);
        if (rowCount !== ids.length) throw new Error(`${rowCount} of ${ids.length} were taken`);
      });
    },
    async close() {
      held.quota.restore();
      held.gateway.restore();
      await Promise.all([gatewayProcess, quotaProcess, webhooksProcess, ...replicas].map((process) => process.stop()));
      await neighbours.stop();
      await Promise.all([...Object.values(pools).map((pool) => pool.end()), held.quota.close(), held.gateway.close()]);
      await Promise.all([gateway, quota, payments, webhooks].map((database) => database!.drop()));
      await Promise.all([broker.close(), rm(directory, { recursive: true })]);
    },
  };
}
