import { VISIBLE } from './visible.ts';

/** An operator's roles. Each role may do everything that the ones before it may do. */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** A person who runs the system. */
export type Operator = { name: string; role: OperatorRole };

/**
 * Who may make an internal call in addition to the services that it names: operators of at least this role, or nobody.
 * `anyone` is for calls that contain their own secret.
 */
export type Access = OperatorRole | 'services' | 'anyone';

export function mayCall(operator: Operator, access: Access): boolean {
  if (access === 'anyone') return true;
  return access !== 'services' && operatorRoles.indexOf(operator.role) >= operatorRoles.indexOf(access);
}

/** Short, in lower case and without spaces, so that no two names look alike in an audit log. */
export const OPERATOR_NAME = '^[a-z][a-z0-9._-]{1,39}$';

/**
 * Whether a name in an audit log is, or looks like, that of an operator who signed in. A user of `ops` with its key may
 * choose any other name.
 */
export const isActorOfOperator = (actor: string): boolean =>
  looksMarked.test(actor.normalize('NFKC')) || /\p{Bidi_Control}/u.test(actor);

/**
 * NFKC normalises other forms of @. Invisible characters may come before it, and bidirectional controls may make it
 * appear first.
 */
const looksMarked = new RegExp(`^(?:(?!${VISIBLE})[^])*@`, 'u');

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
  { access, forMerchants }: { access: Access; forMerchants: boolean },
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
  isMerchantPerson(principal) ? `@merchant/${principal.name}` : `@${principal.name}`;
