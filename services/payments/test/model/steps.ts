import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { WebhookChoice } from '@quittance/contracts/webhook.ts';
import { type Model, usageOf } from './state.ts';

/**
 * What one call does to the model: one step for each database transaction, so that steps of concurrent calls can be put in any order. A
 * step changes the model it is given and returns the next step, or the caller's answer.
 */
export type Step = (model: Model) => Next;
export type Next = { next: Step } | { answer: unknown };

/** The caller's answer, when the model cannot know it: ids and tokens are random. */
export type Answered = { status: number; text: string; replayed: boolean };

/** What the services around payments know. It does not change during a call. */
export type OtherServices = {
  /** quota: the policy in force of each merchant. */
  quota: Map<string, AccessPolicy>;
  /** webhook-dispatcher: which merchants have an endpoint, and what each is notified of. */
  endpoints: Map<string, readonly WebhookChoice[]>;
  /** The services that do not answer. */
  down: Set<'quota' | 'webhooks' | 'chain' | 'rates'>;
  /** chain-watcher: everything it ever published about each transfer, oldest first. */
  chain: Map<string, TransferObserved[]>;
};

/** A merchant's list of addresses, each of which is for one payment at a time. `rest` in milliseconds. */
export type AddressPool = { network: string; addresses: readonly string[]; rest: number };

export type Settings = {
  ttlSeconds: number;
  walletBinding: boolean;
  publicBaseUrl: string;
  /** By merchant, who has one at most. */
  pools: ReadonlyMap<string, AddressPool>;
};

export const unavailable = { status: 503, body: { detail: 'Service temporarily unavailable' } };

export const done = (answer: unknown): Next => ({ answer });

/** Runs a program alone, to its end. @returns what it answers. */
export function runAlone(model: Model, program: Step): unknown {
  let next: Next = { next: program };
  while ('next' in next) next = next.next(model);
  return next.answer;
}

export const timestamp = (milliseconds: number): string => new Date(milliseconds).toISOString();

/** JSON with its members in alphabetical order: the same text for the same content. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
      : part,
  );

export function sendMessage(model: Model, name: string, body: object): void {
  model.published.push(`${name} ${canonical(body)}`);
}

/** Stores a policy that is newer than the known one; a new package counts from here. */
export function applyPolicy(model: Model, policy: AccessPolicy): void {
  const known = model.policies.get(policy.merchant_id);
  if (known !== undefined && known.policy_version >= policy.policy_version) {
    if (known.policy_version > policy.policy_version) model.reached.push('policy: an older version was ignored');
    return;
  }
  const used = usageOf(model, policy.merchant_id).lifetime;
  if (known !== undefined && policy.package_number > known.package_number) {
    model.packageBases.set(policy.merchant_id, used);
    if (used > 0) model.reached.push('policy: a new package began after payments');
  }
  model.policies.set(policy.merchant_id, policy);
}
