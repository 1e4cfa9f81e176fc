import type { Call } from './call.ts';
import { actorOf as actorOfOperator, mayCall, type Operator } from './operator.ts';

/** A person of one merchant, who sees that merchant's data and nothing else. */
export type MerchantPerson = { name: string; role: 'merchant'; merchant_id: string };

/** The person that a token is for: an operator, or a person of a merchant. */
export type Principal = Operator | MerchantPerson;

export const isMerchantPerson = (principal: Principal): principal is MerchantPerson => principal.role === 'merchant';

/**
 * Why a person may not make a call: it is `closed` to them, or about a `foreign` merchant. Foreign merchants are never
 * looked up, so that an existing merchant and a missing one look the same.
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

/**
 * A person's name in an audit log: `@olga` is an operator, `@merchant/anna` is a merchant's person. Operators' names
 * never contain a slash.
 */
export const actorOf = (principal: Principal): string =>
  isMerchantPerson(principal) ? `@merchant/${principal.name}` : actorOfOperator(principal);
