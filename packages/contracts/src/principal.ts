import type { Call } from './call.ts';
import { actorOf as actorOfOperator, mayCall, type Operator } from './operator.ts';

/** A person of one merchant, who sees that merchant's data and nothing else. */
export type MerchantPerson = { name: string; role: 'merchant'; merchant_id: string };

/** Who may be behind a token: a person who runs the system, or one of a merchant. */
export type Principal = Operator | MerchantPerson;

export const isMerchantPerson = (principal: Principal): principal is MerchantPerson => principal.role === 'merchant';

/**
 * Why somebody may not make a call: it is `closed` to such people, or about a `foreign` merchant. What is foreign is looked for nowhere, so
 * that another merchant and none look the same.
 * @param params of the path.
 */
export function refusalOf(
  principal: Principal,
  { access, forMerchants }: Pick<Call, 'access' | 'forMerchants'>,
  params: Readonly<Record<string, string | undefined>>,
): 'closed' | 'foreign' | null {
  if (access === 'anyone') return null;
  if (!isMerchantPerson(principal)) return mayCall(principal, access) ? null : 'closed';
  if (!forMerchants) return 'closed';
  return params['merchant_id'] === principal.merchant_id ? null : 'foreign';
}

/** As an audit names somebody: `@olga` runs the system, `@merchant/anna` is a merchant's. No operator's name has a slash in it. */
export const actorOf = (principal: Principal): string =>
  isMerchantPerson(principal) ? `@merchant/${principal.name}` : actorOfOperator(principal);
