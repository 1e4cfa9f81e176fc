import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Author } from '@quittance/contracts/author.ts';
import { AccessChanged, type MerchantRegistered } from '@quittance/contracts/messages.ts';
import type { Outbox } from '@quittance/messaging/outbox/outbox.ts';
import type { Transaction } from '@quittance/postgres/transaction.ts';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { register, type Rule } from './policy.ts';
import {
  insertPolicy,
  insertPolicyChange,
  lockMerchantStatus,
  lockPolicy,
  updatePolicy,
  type PolicyChange,
} from './store.ts';

export type ChangeOutcome =
  /** `policy` is the one in force after the commit, changed or not. */
  | { outcome: 'changed' | 'unchanged'; policy: AccessPolicy }
  | { outcome: 'refused'; detail: string }
  | { outcome: 'unknown_merchant' };

/** For changes that a message of api-gateway causes. */
export const gatewayAuthor = (reason: string): Author => ({ actor: 'api-gateway', reason });

/**
 * Applies a rule to a merchant's policy. The new version, its audit row and AccessChanged are written in one transaction. The row lock
 * serialises concurrent changes, so each version is audited once.
 */
export async function changePolicy(
  tx: Transaction,
  outbox: Outbox,
  change: { merchantId: string; action: string; rule: Rule; author: Author },
): Promise<ChangeOutcome> {
  const locked = await lockPolicy(tx, change.merchantId);
  if (locked === null) return { outcome: 'unknown_merchant' };
  const { policy: before, now } = locked;
  const decision = change.rule(before, now);
  switch (decision.outcome) {
    case 'refused':
      return decision;
    case 'unchanged':
      return { outcome: 'unchanged', policy: before };
    case 'changed':
      await updatePolicy(tx, decision.policy, now);
      await publish(tx, outbox, {
        ...change.author,
        action: change.action,
        before,
        after: decision.policy,
        changedAt: now,
      });
      return decision;
  }
}

/** Creates the policy of a new merchant, with the account status if one arrived before the registration. */
export async function openPolicy(tx: Transaction, outbox: Outbox, merchant: MerchantRegistered): Promise<void> {
  const status = await lockMerchantStatus(tx, merchant.merchant_id);
  const policy = register(merchant, status === 'active');
  const changedAt = await insertPolicy(tx, policy);
  if (changedAt === null) return;
  await publish(tx, outbox, {
    ...gatewayAuthor('registration'),
    action: 'register',
    before: null,
    after: policy,
    changedAt,
  });
}

async function publish(tx: Transaction, outbox: Outbox, change: PolicyChange): Promise<void> {
  await insertPolicyChange(tx, change);
  await outbox.send(tx, AccessChanged, { ...change.after, changed_at: rfc3339(change.changedAt) });
}
