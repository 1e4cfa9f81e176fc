import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import type { BodyOf, QueryOf } from '@quittance/contracts/call.ts';
import type { ConflictCode } from '@quittance/contracts/error-code.ts';
import {
  CreatePayment,
  CreatePayments,
  NO_RATE_STATUS,
  CancelPayment,
  CancelPaymentByOperator,
  ListAllPayments,
  ListPayments,
  ReadOwnPayment,
  ReadPaymentDetails,
  ReadPaymentProof,
  ReadPublicPayments,
  writeCursor,
} from '@quittance/contracts/http/payments/payments.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { priceProblem } from '@quittance/contracts/rates.ts';
import { conflict, creationBlocked, invalid, HttpError } from '@quittance/http/errors.ts';
import { callReader, wayTo, callRoute } from '@quittance/http/server/call-route.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { AskedCreation, CreationOutcome } from './create.ts';
import type { Creation, CreationRefusal, CreationResult } from './creation-rule.ts';
import type { Author } from '@quittance/contracts/author.ts';
import type { Pool, Queryable } from '@quittance/postgres/pool.ts';
import type { Transact } from '@quittance/postgres/transaction.ts';
import type { TransactAdmitted } from '../gate/admission.ts';
import { settleOpen } from '../settlement/settlement.ts';
import type { SettlementContext } from '../settlement/writing.ts';
import {
  insertCancellation,
  cancelPayment,
  findUnfinishedWallet,
  findPayment,
  type PaymentRow,
} from './payment.sql.ts';
import { lockWallets } from '../settlement/transfer.sql.ts';
import { toPayment, toPayments, readDetails, readPublicPayments } from './view.ts';
import { parseReference } from '@quittance/contracts/payment-reference.ts';
import { isSearch, type ListFilter, listPayments } from './list.sql.ts';
import { type SearchPage, searchPayments } from './search.sql.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { findReceived } from './view.sql.ts';
import { type ProofSources, readProof } from './proof.ts';
import type { ProgressSources } from './progress.ts';
import type { ReadWarnings } from './warnings.ts';

/** The texts of the refusals. A missing row does not compile. */
const blocked: Record<CreationBlockReason, string> = {
  account_inactive: 'The account is blocked',
  creation_paused: 'Creation of payments is paused for this account',
  beta_not_activated: 'The beta access of this account is not activated yet',
  beta_expired: 'The beta access of this account has expired',
  total_quota_exhausted: 'All payments of this account are used up',
  daily_quota_exhausted: 'All payments of this UTC day are used up',
};
const conflicts: Record<
  Exclude<CreationRefusal, CreationBlockReason | keyof typeof invalids | 'rate_unavailable'>,
  [ConflictCode, string]
> = {
  key_conflict: ['idempotency_conflict', 'This Idempotency-Key was already used for another payment'],
  webhook_missing: ['webhook_not_configured', 'Configure a webhook endpoint before creating payments'],
  wallet_of_another_merchant: ['wallet_of_another_merchant', 'This wallet belongs to another merchant'],
  pool_exhausted: ['wallet_pool_exhausted', 'No address of this wallet pool is free: all are in use or rest'],
  wallet_in_use: [
    'wallet_in_use',
    'A payment on this address is unfinished or rests, or shared it in the last 30 days',
  ],
  wallet_dedicated: ['wallet_dedicated', 'A payment has this address for itself, or had it until recently'],
  slot_taken: ['payment_unfinished', 'Finish the current payment with this amount on this address first'],
};
const invalids = {
  unknown_pool: { field: 'wallet_pool', reason: 'is not the name of one of your wallet pools' },
  pool_of_another_network: { field: 'network', reason: 'is not the network of the wallet pool' },
  pool_network_off: { field: 'wallet_pool', reason: 'has a network that is switched off' },
  price_too_high: { field: 'price', reason: 'must convert to less than 1,000,000,000,000 USDT' },
};

type CreationDependencies = {
  create: (creation: Creation) => Promise<CreationOutcome>;
  createTogether: (asked: readonly AskedCreation[]) => Promise<(CreationResult | null)[]>;
  networks: readonly Network[];
  metrics: Metrics;
};

/** Called by the gateway, which has validated and rate-limited the requests. */
export function creationRoutes(dependencies: CreationDependencies): Route[] {
  const outcomes = countOutcomes(dependencies.metrics);
  return [createPaymentRoute(dependencies, outcomes), createPaymentsRoute(dependencies, outcomes)];
}

type Outcomes = ReturnType<typeof countOutcomes>;

/** 201 with the exact bytes, 403 with a code, 409, or 503. */
function createPaymentRoute({ create, networks }: CreationDependencies, outcomes: Outcomes): Route {
  const read = callReader(CreatePayment);
  return {
    ...wayTo(CreatePayment),
    handle: async (request) => {
      const { params, body } = await read(request);
      const outcome = await create(toCreation(params.merchant_id, body, networks)).catch((error: unknown) => {
        outcomes.inc({ outcome: 'undecided' });
        throw error;
      });
      outcomes.inc({ outcome: outcome.outcome });
      return replyOf(outcome);
    },
  };
}

function countOutcomes(metrics: Metrics) {
  const outcomes = metrics.counter('payment_creations_total', 'Requests to create a payment, by outcome', ['outcome']);
  // Start at zero: otherwise an alert would not see a series' first refusal as an increase.
  for (const outcome of [
    'created',
    'replayed',
    'undecided',
    ...Object.keys({ ...blocked, ...conflicts, ...invalids }),
    'rate_unavailable',
  ])
    outcomes.inc({ outcome }, 0);
  return outcomes;
}

function replyOf(outcome: CreationOutcome): Reply {
  if (outcome.outcome === 'created') return { status: 201, body: outcome.body };
  if (outcome.outcome === 'replayed')
    return { status: 201, body: outcome.body, headers: { 'idempotency-replayed': 'true' } };
  if (outcome.outcome in conflicts) throw conflict(...conflicts[outcome.outcome as keyof typeof conflicts]);
  if (outcome.outcome === 'rate_unavailable')
    throw new HttpError(NO_RATE_STATUS, 'There is no rate', {}, { code: 'rate_unavailable' });
  if (outcome.outcome in invalids) throw invalid(invalids[outcome.outcome as keyof typeof invalids]);
  throw creationBlocked(outcome.outcome as CreationBlockReason, blocked[outcome.outcome as CreationBlockReason]);
}

/** Creates the payments that wait in the gateway at the same time. A creation that has to be retried alone is left out. */
const createPaymentsRoute = ({ createTogether, networks }: CreationDependencies, outcomes: Outcomes): Route =>
  callRoute(CreatePayments, async ({ body }) => {
    const asked = body.creations.flatMap(({ request_id: requestId, traceparent, ...creation }) => {
      try {
        const valid = toCreation(creation.merchant_id, creation, networks);
        return [{ creation: valid, origin: { requestId, traceparent } }];
      } catch {
        return [];
      }
    });
    const results = await createTogether(asked);
    const created = asked.flatMap(({ creation }, position) => {
      const result = results[position] ?? null;
      if (result === null || !('body' in result)) return [];
      outcomes.inc({ outcome: result.outcome });
      const { merchant_id, idempotency_key } = creation;
      const replayed = result.outcome === 'replayed';
      return [{ merchant_id, idempotency_key, replayed, body: result.body.toString('utf8') }];
    });
    return { created };
  });

/** A unique amount differs from its price after the second decimal. */
const UNITS_OF_A_CENT = 10_000n;
const uniqueOfTooManyDecimals = { field: 'unique_amount', reason: 'needs an amount of at most two decimals' };

/** Amount, network and wallet are checked again, in case gateway and payments have different networks files. */
export function toCreation(
  merchantId: string,
  body: BodyOf<typeof CreatePayment>,
  networks: readonly Network[],
): Creation {
  const units = unitsOf(body);
  const network = networks.find(({ id }) => id === body.network);
  if (network === undefined && (body.network !== undefined || body.wallet_pool === undefined))
    throw invalid({ field: 'network', reason: 'is not configured' });
  const wallet = body.merchant_wallet === undefined ? null : parseAddress(body.merchant_wallet);
  if (body.wallet_pool === undefined && (wallet === null || wallet.family !== network?.family))
    throw invalid({ field: 'merchant_wallet', reason: `is no address of ${network?.id}` });
  return {
    ...body,
    merchant_id: merchantId,
    merchant_wallet: wallet?.address ?? null,
    network: network?.id ?? null,
    amount: body.amount ?? null,
    amount_units: units,
  };
}

/** @returns null for a price, which is converted later. */
function unitsOf({ amount, price, unique_amount: isUnique }: BodyOf<typeof CreatePayment>): bigint | null {
  if (price !== undefined) {
    const problem = amount === undefined ? priceProblem(price) : 'must not be sent together with amount';
    if (problem !== null) throw invalid({ field: 'price', reason: problem });
    return null;
  }
  const units = parseAmount(amount ?? '');
  if (units === null) throw invalid({ field: 'amount', reason: 'is no amount' });
  if (isUnique === true && units % UNITS_OF_A_CENT !== 0n) throw invalid(uniqueOfTooManyDecimals);
  return units;
}

type CancelContext = Pick<SettlementContext, 'messages' | 'logger'>;

/**
 * Cancels a PENDING payment: 200 with the payment. Another status, another merchant's payment and an unknown id are one and the same
 * 409, so that a merchant cannot learn which ids exist.
 */
export const cancelPaymentRoute = ({
  db,
  transact,
  publicBaseUrl,
  ...context
}: CancelContext & { db: Queryable; transact: TransactAdmitted; publicBaseUrl: string }): Route =>
  callRoute(CancelPayment, async ({ params }) => {
    const cancelled = await transact(params.merchant_id, (tx) => cancelAndNotify({ ...context, tx }, params));
    if (cancelled === null) throw conflict('cancel_unavailable', 'This payment cannot be cancelled');
    return shownCancelled(db, cancelled, publicBaseUrl);
  });

const shownCancelled = async (db: Queryable, payment: PaymentRow, publicBaseUrl: string) =>
  toPayment({ ...payment, received_amount: await findReceived(db, payment) }, null, publicBaseUrl);

/** By the same rule. An operator may see which payments exist, and why one cannot be cancelled. */
export const operatorCancelRoute = ({
  db,
  transact,
  publicBaseUrl,
  ...context
}: CancelContext & { db: Queryable; transact: Transact; publicBaseUrl: string }): Route =>
  callRoute(CancelPaymentByOperator, async ({ params: { payment_id: paymentId }, author }) => {
    const payment = await findPayment(db, paymentId);
    if (payment === null) throw new HttpError(404, 'Payment not found');
    const cancelled = await transact((tx) => cancelAndNotify({ ...context, tx }, payment, author));
    if (cancelled !== null) return shownCancelled(db, cancelled, publicBaseUrl);
    const { status } = (await findPayment(db, paymentId)) ?? payment;
    throw conflict('cancel_unavailable', `${paymentId} is ${status}: only a PENDING payment can be cancelled`);
  });

/** @param author of an operator's cancel. @returns null when the payment is not this merchant's, or not PENDING. */
async function cancelAndNotify(
  context: SettlementContext,
  { merchant_id, payment_id }: Pick<PaymentRow, 'merchant_id' | 'payment_id'>,
  author: Author | null = null,
): Promise<PaymentRow | null> {
  const { tx, messages } = context;
  const wallet = await findUnfinishedWallet(tx, payment_id);
  if (wallet === null) return null;
  // In the order in which settling takes its locks: the wallet, then its payments.
  await lockWallets(tx, [wallet]);
  const payment = await cancelPayment(tx, merchant_id, payment_id);
  if (payment === null) return null;
  await settleOpen(context, [payment]);
  if (payment.cancelled_at) await messages.sendClosed(tx, payment, 'CANCELLED', payment.cancelled_at);
  if (author !== null) await insertCancellation(tx, payment, author);
  return payment;
}

const DEFAULT_LIMIT = 20;
const DEFAULT_LIMIT_OF_ALL = 50;

type ListDependencies = ProgressSources & {
  db: Queryable;
  /** For lists that read many payments, so that they take no connection from creations. */
  operators: Pool;
  networks: readonly string[];
  publicBaseUrl: string;
};

/** Lists of a merchant's payments, and of all. */
export const listRoutes = (dependencies: ListDependencies): Route[] => [
  listPaymentsRoute(dependencies),
  listAllPaymentsRoute(dependencies),
];

const listPaymentsRoute = ({ db, operators, networks, publicBaseUrl, ...progress }: ListDependencies): Route =>
  callRoute(ListPayments, async ({ params, query: { cursor: after, limit: given, ...query } }) => {
    const limit = given ?? DEFAULT_LIMIT;
    const filter = filterOf(query);
    if (isSearch(filter)) {
      const page = await searchPayments(operators, { merchants: [params.merchant_id], filter, after, limit });
      return shownSearch(page, await toPayments(page.payments, progress, publicBaseUrl));
    }
    const part = { after, limit, order: 'newest first' } as const;
    const { payments, next } = await listPayments(db, params.merchant_id, { networks, filter, part });
    return { payments: await toPayments(payments, progress, publicBaseUrl), next_cursor: next && writeCursor(next) };
  });

const listAllPaymentsRoute = ({ operators, publicBaseUrl, ...progress }: ListDependencies): Route =>
  callRoute(ListAllPayments, async ({ query: { cursor: after, limit, merchants, ...query } }) => {
    const filter = filterOf(query);
    const page = await searchPayments(operators, { merchants, filter, after, limit: limit ?? DEFAULT_LIMIT_OF_ALL });
    const shown = await toPayments(page.payments, progress, publicBaseUrl);
    return shownSearch(
      page,
      shown.map((payment, position) => ({ ...payment, merchant_id: page.payments[position]?.merchant_id ?? '' })),
    );
  });

const filterOf = (query: Partial<Omit<QueryOf<typeof ListPayments>, 'cursor' | 'limit'>>): ListFilter => ({
  status: query.status ?? null,
  createdFrom: query.created_from ?? null,
  createdTo: query.created_to ?? null,
  paidFrom: query.paid_from ?? null,
  paidTo: query.paid_to ?? null,
  orderId: query.order_id ?? null,
  idEnd: query.reference ? parseReference(query.reference) : null,
  transactionId: query.transaction_id ?? null,
  recipient: query.merchant_wallet ?? null,
  network: query.network ?? null,
  text: query.text ?? null,
  amountMin: query.amount_min ?? null,
  amountMax: query.amount_max ?? null,
});

const shownSearch = <Shown>({ next, searchedTo }: SearchPage, payments: Shown[]) => ({
  payments,
  next_cursor: next && writeCursor(next),
  searched_to: searchedTo && rfc3339(searchedTo),
});

type ViewDependencies = Pick<ProofSources, 'networks' | 'watcher'> & {
  db: Queryable;
  publicBaseUrl: string;
  progress: ProgressSources;
  readWarnings: ReadWarnings;
};

/** Several payments in one call: in detail for their merchants, and as public tokens and checkout pages show them. One payment's proof. */
export const paymentViewsRoutes = ({
  publicBaseUrl,
  progress,
  networks,
  watcher,
  ...rest
}: ViewDependencies): Route[] => [
  callRoute(ReadPaymentDetails, async ({ body }) => ({
    found: await readDetails({ ...rest, ...progress }, body.payments, publicBaseUrl),
  })),
  callRoute(ReadOwnPayment, async ({ params }) => {
    const [found] = await readDetails({ ...rest, ...progress }, [params], publicBaseUrl);
    if (found === undefined) throw new HttpError(404, 'Payment not found');
    return found.payment;
  }),
  callRoute(ReadPaymentProof, ({ params }) =>
    readProof({ db: rest.db, networks, watcher, policy: progress.policy }, params),
  ),
  callRoute(ReadPublicPayments, async ({ body }) => ({
    found: await readPublicPayments({ ...rest, ...progress }, body.tokens_sha256),
  })),
];
