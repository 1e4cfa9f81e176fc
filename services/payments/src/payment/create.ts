import { creationBlockReasons } from '@quittance/contracts/access.ts';
import { unavailable } from '@quittance/http/errors.ts';
import { currentOrigin, type MessageOrigin } from '@quittance/messaging/outbox/outbox.ts';
import type { Pool } from '@quittance/postgres/pool.ts';
import { transaction, type Transaction } from '@quittance/postgres/transaction.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { TransactAdmitted } from '../gate/admission.ts';
import type { AccessRefresh } from '../gate/refresh.ts';
import type { PaymentMessages } from './outgoing-messages.ts';
import { lockGates } from '../gate/gate.sql.ts';
import { insertPayments, isWalletTaken, lockPrice, type Question, readFacts } from './create.sql.ts';
import { type Creation, type CreationResult, type CreationRules, decide, withRate } from './creation-rule.ts';
import { isCurrency } from '@quittance/contracts/rates.ts';
import { rateOf, type RateRules } from '../rates/judge.ts';
import { readKnownRates } from '../rates/rate.sql.ts';

/** A creation, and the request it came with. */
export type AskedCreation = { creation: Creation; origin: MessageOrigin };

/** Every result but `unknown_merchant`, which is thrown. */
export type CreationOutcome = Exclude<CreationResult, { outcome: 'unknown_merchant' }>;

/** What deciding and writing a creation needs, inside a transaction. */
export type Deciding = { rules: CreationRules; messages: Pick<PaymentMessages, 'sendCreated'> };

export type CreationContext = Deciding & {
  pool: Pool;
  rates: RateRules;
  transact: TransactAdmitted;
  refresh: AccessRefresh;
  /** Derives more addresses of a pool, if it has an extended key. */
  fillPool: (tx: Transaction, merchantId: string, poolName: string) => Promise<void>;
};

/**
 * Creates a payment, or answers a repeated request with the first answer's bytes. Before it refuses because of another service's decision,
 * it asks that service once, between two transactions: permissions may arrive late, and a merchant that was just activated must not be
 * refused.
 * @throws ServiceUnavailable or an error that isUnavailable() recognises when it cannot be decided; then nothing is stored.
 */
export async function createPayment(context: CreationContext, creation: Creation): Promise<CreationOutcome> {
  const asked = { creation, origin: currentOrigin() };
  const refreshed = new Set<keyof AccessRefresh>();
  for (;;) {
    const result = await decideAlone(context, asked);
    const owner = ownerOf(result.outcome);
    // Each owner is asked once, so this repeats at most twice.
    if (owner === null || refreshed.has(owner) || !(await context.refresh[owner](creation.merchant_id))) {
      // The gateway let the merchant in, so the policy from quota is only late.
      if (result.outcome === 'unknown_merchant') throw unavailable(new Error('quota does not know the merchant yet'));
      return result;
    }
    refreshed.add(owner);
  }
}

/** The service whose newer decision could change the outcome, or null. */
function ownerOf(outcome: CreationResult['outcome']): keyof AccessRefresh | null {
  if (outcome === 'webhook_missing') return 'webhook';
  return (['unknown_merchant', ...creationBlockReasons] as const).some((reason) => reason === outcome)
    ? 'policy'
    : null;
}

/** Further attempts are only needed while other creations keep taking each chosen amount. */
const ATTEMPTS_MAX = 100;

/** Waits for the locks that a creation needs; a replay needs none. */
async function decideAlone(context: CreationContext, asked: AskedCreation): Promise<CreationResult> {
  const attempt = () =>
    context.transact(asked.creation.merchant_id, async (tx) => {
      // Once for all tries, so that they ask for one amount.
      const [priced = asked] = await withRates(tx, [asked], context.rates);
      for (let tries = 1; tries <= ATTEMPTS_MAX; tries += 1) {
        const waits = tries > 1;
        const [result] = await decideAll(tx, context, [priced], { waits });
        if (result) return result;
        // Only after the gate, so that no two transactions deadlock.
        const { merchant_id: merchantId, wallet_pool: poolName } = asked.creation;
        if (poolName !== undefined) await context.fillPool(tx, merchantId, poolName);
        else if (waits) await lockPrice(tx, questionOf(priced.creation));
      }
      throw unavailable(new Error('other creations took every amount that was chosen'));
    });
  const result = await attempt().catch((error: unknown) => {
    // Another merchant took the wallet in the meantime; a new transaction sees that.
    if (isWalletTaken(error)) return attempt();
    throw error;
  });
  faultPoint('creation-committed');
  return result;
}

/** For locks other than gates: a wallet or an amount that another creation is taking at this moment. */
const BATCH_LOCK_TIMEOUT_MS = 20;

/**
 * Creates in one transaction, which never waits for a gate, the payments that can be created together. When it fails, the cause may be any
 * of them: each is then retried alone, and finds its reply if the transaction was committed after all.
 * @returns in the order of `asked`; null for a creation that has to be retried alone.
 */
export async function createTogether(
  context: Pick<CreationContext, 'pool' | 'rates' | keyof Deciding>,
  asked: readonly AskedCreation[],
): Promise<(CreationResult | null)[]> {
  const batch = compatible(asked, context.rules);
  const results = await transaction(
    context.pool,
    async (tx) => decideAll(tx, context, await withRates(tx, batch, context.rates), { waits: false }),
    { lockTimeoutMs: BATCH_LOCK_TIMEOUT_MS },
  );
  faultPoint('creation-committed');
  const found = new Map(batch.map((creation, position) => [creation, results[position] ?? null]));
  return asked.map((creation) => found.get(creation) ?? null);
}

/**
 * Converts prices by the rates of this moment. Without a price it reads nothing.
 * @returns the creations, in their order; a price without a rate keeps no amount.
 */
async function withRates(
  tx: Transaction,
  asked: readonly AskedCreation[],
  rules: RateRules,
): Promise<readonly AskedCreation[]> {
  if (asked.every(({ creation }) => creation.price === undefined)) return asked;
  const known = await readKnownRates(tx);
  return asked.map(({ creation, origin }) => {
    const currency = creation.price?.currency ?? '';
    const found = isCurrency(currency) ? rateOf(currency, known, rules) : null;
    return { origin, creation: withRate(creation, found !== null && 'rate' in found ? found.rate : null) };
  });
}

/**
 * One creation of each merchant, because the next one depends on its counters, and one of each wallet, because it may bind the wallet. Where
 * wallets are not bound, a pool may give the wallet of another creation, and locks don't separate creations of one transaction.
 */
function compatible(asked: readonly AskedCreation[], { walletBinding }: CreationRules): AskedCreation[] {
  const taken = new Set<string>();
  return asked.filter(({ creation: { merchant_id: merchant, merchant_wallet: wallet } }) => {
    if (wallet === null && !walletBinding) return false;
    const uses = wallet === null ? [merchant] : [merchant, wallet];
    if (uses.some((use) => taken.has(use))) return false;
    for (const use of uses) taken.add(use);
    return true;
  });
}

/**
 * Decides creations of different merchants and writes the allowed ones, in one transaction.
 * @param options.waits for gates that are locked.
 * @returns in their order; null for one that is not decided, because its gate or price is locked or its amount was just taken.
 */
export async function decideAll(
  tx: Transaction,
  { rules, messages }: Deciding,
  asked: readonly AskedCreation[],
  options: { waits: boolean },
): Promise<(CreationResult | null)[]> {
  // 1. Lock the gates, so that no other transaction counts for these merchants; then read what the creations depend on.
  const merchants = asked.map(({ creation }) => creation.merchant_id);
  const gates = await lockGates(tx, merchants, options);
  const facts = await readFacts(
    tx,
    asked.map(({ creation }) => questionOf(creation, gates.has(creation.merchant_id))),
    rules.walletBinding,
  );

  // 2. Decide.
  const decided = asked.map(({ creation, origin }) => {
    const known = facts.get(creation.merchant_id);
    if (known === undefined) throw new Error(`creation_facts() returned no row for ${creation.merchant_id}`);
    const gate = gates.get(creation.merchant_id) ?? null;
    return { origin, decision: decide(creation, { gate, ...known }, rules) };
  });

  // 3. Write the allowed ones, with their messages.
  const payments = decided.flatMap(({ decision }) => (decision.outcome === 'created' ? [decision.write] : []));
  const written = payments.length === 0 ? new Set<string>() : await insertPayments(tx, payments);
  if (written.size > 0) faultPoint('creation-written');
  await messages.sendCreated(
    tx,
    decided.flatMap(({ decision, origin }) =>
      decision.outcome === 'created' && written.has(decision.write.payment.payment_id)
        ? [{ payment: decision.write.payment, ...origin }]
        : [],
    ),
  );
  return decided.map(({ decision }) => {
    if (decision.outcome === 'undecided') return null;
    if (decision.outcome === 'created') {
      const { payment, reply } = decision.write;
      return written.has(payment.payment_id) ? { outcome: 'created', body: Buffer.from(reply) } : null;
    }
    // Without waiting, a missing gate may only be locked.
    return decision.outcome === 'unknown_merchant' && !options.waits ? null : decision;
  });
}

/** @param isLocked whether the merchant's gate is locked: only then an amount is chosen. */
const questionOf = (creation: Creation, isLocked = false): Question => ({
  merchant_id: creation.merchant_id,
  idempotency_key: creation.idempotency_key,
  network: creation.network,
  recipient: creation.merchant_wallet,
  pool: creation.wallet_pool ?? null,
  amount_units: creation.amount_units ?? 0n,
  is_unique: creation.unique_amount === true,
  is_dedicated: creation.dedicated_wallet === true,
  needs_amount: isLocked && creation.amount_units !== null,
});
