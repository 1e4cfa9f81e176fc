import type {
  AccessChanged,
  RatesObserved,
  TransferObserved,
  WebhookConfigured,
} from '@quittance/contracts/messages.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { Cursor } from '@quittance/contracts/http/payments/payments.ts';
import type { PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { ServiceClient } from '@quittance/http/client/client.ts';
import { HttpError } from '@quittance/http/errors.ts';
import type { Route, RouteRequest } from '@quittance/http/server/route.ts';
import { Busy, type Handler } from '@quittance/messaging/consumer/handler.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import { isUnavailable } from '@quittance/postgres/errors.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction } from '@quittance/postgres/transaction.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { createAdmission } from '../../src/gate/admission.ts';
import { createPaymentMessages } from '../../src/payment/outgoing-messages.ts';
import { createAccessRefresh } from '../../src/gate/refresh.ts';
import { noTips, createConfirmationPolicy } from '../../src/payment/progress.ts';
import type { Chain, Owners } from '../../src/clients.ts';
import { createPayment, createTogether, type CreationContext, type CreationOutcome } from '../../src/payment/create.ts';
import type { Creation } from '../../src/payment/creation-rule.ts';
import { accessChanged, webhookConfigured } from '../../src/gate/messages.ts';
import { transferObserved } from '../../src/settlement/messages.ts';
import { anything, listPayments } from '../../src/payment/list.sql.ts';
import type { DetailsRow } from '../../src/payment/view.sql.ts';
import { readDetails, readPublicPayments, toPayments } from '../../src/payment/view.ts';
import type { ReadWarnings } from '../../src/payment/warnings.ts';
import { createQueries } from '../../src/operators/payments.sql.ts';
import { acceptTransferRoute } from '../../src/acceptance/http.ts';
import { cancelPaymentRoute, creationRoutes } from '../../src/payment/http.ts';
import { limitsRoutes } from '../../src/gate/http.ts';
import { operatorRoutes } from '../../src/operators/http.ts';
import { schema } from '../../src/migrations.ts';
import { poolRoutes } from '../../src/pools/http.ts';
import { savePool } from '../../src/pools/save.ts';
import { ratesObserved } from '../../src/rates/messages.ts';
import { releaseWallet } from '../../src/wallets/wallet.sql.ts';
import type { AcceptanceCall } from './accepting.ts';
import type { CreationCall } from './creating.ts';
import { expireOnce } from './expire-once.ts';
import type { Question } from './expiring.ts';
import type { AddressPool, Answered, Settings } from './steps.ts';

/** What a replica is made of besides its database. */
export type Parts = {
  outbox: Outbox;
  owners: Owners;
  verifier: Pick<ServiceClient, 'call'>;
  networks: readonly Network[];
  settings: Settings;
};

/** One process of the service, built as in main.ts, without its HTTP and broker connections. */
export type Replica = ReturnType<typeof startReplica>;

type Reply = { status: number; text: string; headers: Record<string, string> };

export function startReplica(pool: Pool, { outbox, owners, verifier, networks, settings }: Parts) {
  const messages = createPaymentMessages({ outbox, metrics: testMetrics });
  const transact = createAdmission(pool);
  const refresh = createAccessRefresh({ owners, transact });
  const { publicBaseUrl } = settings;
  const creating = {
    pool,
    transact,
    refresh,
    rules: { ...settings, networks: networks.map(({ id }) => id) },
    rates: rateRules,
    messages,
    fillPool: () => Promise.resolve(),
  };
  // chain-watcher does not report its tip: the ledger's number is then shown.
  const progress = { readTips: () => Promise.resolve(noTips), policy: createConfirmationPolicy(networks) };
  const readWarnings: ReadWarnings = (payments) => Promise.resolve(payments.map(() => []));
  const acceptance = { db: pool, verifier: verifier as ServiceClient, messages, logger: testLogger };
  const saving = { transact, vault: null, networks, walletBinding: settings.walletBinding };
  const routes = {
    create: creationRoutes({
      create: (creation) => createAsAsked(creating, creation),
      createTogether: (asked) => createTogether(creating, asked),
      networks,
      metrics: testMetrics,
    })[0]!,
    cancel: cancelPaymentRoute({
      db: pool,
      transact,
      messages,
      logger: testLogger,
      publicBaseUrl,
    }),
    accept: acceptTransferRoute({
      acceptance,
      transact,
      leastPercent: 90,
      publicBaseUrl,
      progress,
    }),
    acceptAsOperator: operatorRoutes({
      acceptance: { ...acceptance, transact: (run) => transaction(pool, run) },
      queries: createQueries({ pool, schema }),
      publicBaseUrl,
      progress,
      readWarnings,
    }).find(({ path }) => path.endsWith('/accept-transfer'))!,
    limits: limitsRoutes({ db: pool, refresh }).find(({ path }) => path.endsWith('/limits'))!,
    endRest: poolRoutes({ db: pool, ...saving }).find(({ method }) => method === 'DELETE')!,
  };
  const views = { db: pool, ...progress, readWarnings };
  const receive = (handler: Handler, ...news: readonly unknown[]) => handle(pool, handler, news);

  return {
    async create(call: CreationCall): Promise<Answered> {
      const { merchant, key: idempotency_key, description } = call;
      const body = { idempotency_key, description, ...amountAsked(call), ...placeAsked(call), ...optionsAsked(call) };
      const { status, text, headers } = await serve(routes.create, { merchant_id: merchant }, body);
      return { status, text, replayed: headers['idempotency-replayed'] === 'true' };
    },
    cancel: (merchant: string, paymentId: string) =>
      serve(routes.cancel, { merchant_id: merchant, payment_id: paymentId }),
    limits: (merchant: string) => serve(routes.limits, { merchant_id: merchant }),
    details: async (merchant: string, paymentId: string) => {
      const found = await readDetails(views, [{ merchant_id: merchant, payment_id: paymentId }], publicBaseUrl);
      return found[0]?.payment ?? null;
    },
    publicStatus: async (tokenSha256: string) => (await readPublicPayments(views, [tokenSha256]))[0] ?? null,
    /** All pages of the list. @param pageSize small, so that there are several. */
    async list(merchant: string, status: PaymentStatus | null, pageSize: number): Promise<unknown[]> {
      const filter = { ...anything, status };
      const all: DetailsRow[] = [];
      let after: Cursor | null = null;
      do {
        const part = { after, limit: pageSize, order: 'newest first' } as const;
        const page: Awaited<ReturnType<typeof listPayments>> = await listPayments(pool, merchant, {
          networks: [],
          filter,
          part,
        });
        all.push(...page.payments);
        after = page.next;
      } while (after !== null);
      return toPayments(all, progress, publicBaseUrl);
    },
    accept({ merchant, payment, transfer: { id, index }, confirmed }: AcceptanceCall) {
      const body = {
        ...{ transaction_id: id, transaction_event_index: index },
        ...(confirmed !== null && { confirm_candidates: confirmed }),
      };
      if (merchant === null) {
        return serve(routes.acceptAsOperator, { payment_id: payment }, { ...body, actor: 'model', reason: 'he wrote' });
      }
      return serve(routes.accept, { merchant_id: merchant, payment_id: payment }, body);
    },
    receiveTransfers: (news: readonly TransferObserved[]) => receive(transferObserved(messages, { ms: 0 }), ...news),
    receivePolicy: (message: AccessChanged) => receive(accessChanged(), message),
    receiveWebhook: (message: WebhookConfigured) => receive(webhookConfigured(), message),
    endRest: (merchant: string, address: string) => serve(routes.endRest, { merchant_id: merchant, address }),
    receiveRates: (message: RatesObserved) => receive(ratesObserved(rateRules), message),
    /** Makes a merchant's pool. */
    savePool: (merchantId: string, { network, addresses, rest }: AddressPool) =>
      savePool(
        saving,
        { merchantId, name: POOL },
        {
          ...{ network, addresses: [...addresses], append: false },
          rest_seconds: rest / 1000,
        },
      ),
    release: (wallet: string) => releaseWallet(pool, wallet, { actor: 'model', reason: 'the shop was sold' }),
    expire: (chain: Chain, questions: Question[]) => expireOnce({ pool, messages, chain, networks, questions }),
  };
}

const POOL = 'shop';
const rateRules = { maxAgeSeconds: 300, maxSpreadPercent: 1 };

const amountAsked = ({ amount, isPrice }: CreationCall): object =>
  isPrice ? { price: { amount, currency: 'EUR' } } : { amount };

const placeAsked = ({ own, wallet, network }: CreationCall): object =>
  own === 'pool' ? { wallet_pool: POOL } : { merchant_wallet: wallet, network };

const optionsAsked = ({ own, orderId, percent }: CreationCall): object => ({
  ...(orderId !== null && { order_id: orderId }),
  ...(own === 'wallet' && { dedicated_wallet: true }),
  ...(percent !== null && { accept_from_percent: percent }),
});

/** Like the consumer, but without the inbox: only versions may stop repeated messages. */
async function handle(pool: Pool, handler: Handler, news: readonly unknown[]): Promise<string> {
  const deliveries = news.map((payload) => {
    handler.message.parse(payload);
    const messageId = newMessageId();
    return { payload, messageId, requestId: messageId, traceparent: null };
  });
  try {
    await transaction(pool, (tx) => handler.handle(deliveries, { tx, logger: testLogger }));
    return 'taken';
  } catch (error) {
    if (isUnavailable(error) || error instanceof Busy) return 'to be delivered again';
    throw error;
  }
}

/** What createApp() makes of a request. An error that it would answer with 500 is thrown. */
async function serve(route: Route, params: Record<string, string>, body?: object): Promise<Reply> {
  const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const request: RouteRequest = {
    method: route.method,
    path: route.path,
    params,
    query: new URLSearchParams(),
    headers: { 'content-type': 'application/json' },
    rawHeaders: [],
    requestId: newMessageId(),
    remoteAddress: '127.0.0.1',
    principal: null,
    readBody: () => Promise.resolve({ bytes, tooLarge: false }),
  };
  try {
    const reply = await route.handle(request);
    const text = Buffer.isBuffer(reply.body) ? reply.body.toString('utf8') : JSON.stringify(reply.body);
    return { status: reply.status, text, headers: reply.headers ?? {} };
  } catch (error) {
    if (error instanceof HttpError) {
      return { status: error.status, text: JSON.stringify({ detail: error.detail }), headers: error.headers };
    }
    if (isUnavailable(error)) {
      return { status: 503, text: '{"detail":"Service temporarily unavailable"}', headers: {} };
    }
    throw error;
  }
}

/** Like the gateway: in a batch first, then alone if that creates nothing. */
async function createAsAsked(creating: CreationContext, creation: Creation): Promise<CreationOutcome> {
  const [result] = await createTogether(creating, [{ creation, origin: {} }]).catch(() => [null]);
  return result && 'body' in result ? result : createPayment(creating, creation);
}
