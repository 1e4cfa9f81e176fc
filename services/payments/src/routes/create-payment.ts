import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount } from '@quittance/contracts/amount.ts';
import type { CreationBlockReason } from '@quittance/contracts/access.ts';
import type { BodyOf } from '@quittance/contracts/call.ts';
import type { ConflictCode } from '@quittance/contracts/error-code.ts';
import { CreatePayment } from '@quittance/contracts/http/payments/payments.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import { conflict, creationBlocked, invalid } from '@quittance/http/errors.ts';
import { callReader, wayTo } from '@quittance/http/server/call-route.ts';
import type { Reply, Route } from '@quittance/http/server/route.ts';
import type { Metrics } from '@quittance/runtime/metrics.ts';
import type { CreationOutcome } from '../payment/create.ts';
import type { Creation, CreationRefusal } from '../payment/creation-rule.ts';

/** The texts of the refusals. One without a row here does not compile. */
const blocked: Record<CreationBlockReason, string> = {
  account_inactive: 'The account is blocked',
  creation_paused: 'Creation of payments is paused for this account',
  beta_not_activated: 'The beta access of this account is not activated yet',
  beta_expired: 'The beta access of this account has expired',
  total_quota_exhausted: 'All payments of this account are used up',
  daily_quota_exhausted: 'All payments of this UTC day are used up',
};
const conflicts: Record<Exclude<CreationRefusal, CreationBlockReason>, [ConflictCode, string]> = {
  key_conflict: ['idempotency_conflict', 'This Idempotency-Key was already used for another payment'],
  webhook_missing: ['webhook_not_configured', 'Configure a webhook endpoint before creating payments'],
  wallet_of_another_merchant: ['wallet_of_another_merchant', 'This wallet belongs to another merchant'],
  slot_taken: ['payment_unfinished', 'Finish the current payment with this amount on this address first'],
};

/** Called by the gateway, which has validated and rate-limited the request. 201 with the exact bytes, 403 with a code, 409, or 503. */
export function createPaymentRoute({
  create,
  networks,
  metrics,
}: {
  create: (creation: Creation) => Promise<CreationOutcome>;
  networks: readonly Network[];
  metrics: Metrics;
}): Route {
  const outcomes = countOutcomes(metrics);
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
  // Start at zero: a first refusal that makes its series appear is no increase to an alert.
  for (const outcome of ['created', 'replayed', 'undecided', ...Object.keys({ ...blocked, ...conflicts })])
    outcomes.inc({ outcome }, 0);
  return outcomes;
}

function replyOf(outcome: CreationOutcome): Reply {
  if (outcome.outcome === 'created') return { status: 201, body: outcome.body };
  if (outcome.outcome === 'replayed')
    return { status: 201, body: outcome.body, headers: { 'idempotency-replayed': 'true' } };
  if (isConflict(outcome.outcome)) throw conflict(...conflicts[outcome.outcome]);
  throw creationBlocked(outcome.outcome, blocked[outcome.outcome]);
}

const isConflict = (refusal: CreationRefusal): refusal is keyof typeof conflicts => refusal in conflicts;

/** A unique amount differs from its price behind the second decimal. */
const UNITS_OF_A_CENT = 10_000n;
const uniqueOfTooManyDecimals = { field: 'unique_amount', reason: 'needs an amount of at most two decimals' };

/** Amount, network and wallet are checked again, in case gateway and payments have different networks files. */
export function toCreation(
  merchantId: string,
  body: BodyOf<typeof CreatePayment>,
  networks: readonly Network[],
): Creation {
  const units = parseAmount(body.amount);
  if (units === null) throw invalid({ field: 'amount', reason: 'is no amount' });
  if (body.unique_amount === true && units % UNITS_OF_A_CENT !== 0n) throw invalid(uniqueOfTooManyDecimals);
  const network = networks.find(({ id }) => id === body.network);
  if (network === undefined) throw invalid({ field: 'network', reason: 'is not configured' });
  const wallet = parseAddress(body.merchant_wallet);
  if (wallet === null || wallet.family !== network.family) {
    throw invalid({ field: 'merchant_wallet', reason: `is no address of ${network.id}` });
  }
  return { ...body, merchant_id: merchantId, merchant_wallet: wallet.address, amount_units: units };
}
