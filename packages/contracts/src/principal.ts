import { VISIBLE } from './visible.ts';

/** An operator's roles. Each role may do everything that the ones before it may do. */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** What a token says about how its person signed in. Absent in tokens for a credential, and while passkeys are off. */
type SignedIn = {
  /** The person uses a console, where some calls need a confirmation with a passkey. */
  console?: true;
  /** The one request that the person has just confirmed, see `requestHash()`. */
  confirms?: string;
};

/** A person who runs the system. */
export type Operator = { name: string; role: OperatorRole } & SignedIn;

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

/** The roles of a merchant's people. Each may do everything that the ones before it may do. */
export const merchantRoles = ['viewer', 'staff', 'owner'] as const;

export type MerchantRole = (typeof merchantRoles)[number];

/** A person of one merchant, who sees and changes that merchant's data and nothing else. */
export type MerchantPerson = {
  name: string;
  role: 'merchant';
  merchant_id: string;
  /** What the person may do. In a session without a passkey, `viewer`. */
  merchant_role: MerchantRole;
} & SignedIn;

export const mayAct = (person: Pick<MerchantPerson, 'merchant_role'>, needed: MerchantRole): boolean =>
  merchantRoles.indexOf(person.merchant_role) >= merchantRoles.indexOf(needed);

/** The person that a token is for: an operator, or a person of a merchant. */
export type Principal = Operator | MerchantPerson;

export const isMerchantPerson = (principal: Principal): principal is MerchantPerson => principal.role === 'merchant';

/**
 * Why a person may not make a call: it is `closed` to them, about a `foreign` merchant, or for a higher `role`. Foreign
 * merchants are never looked up, so that an existing merchant and a missing one look the same.
 * @param params of the path.
 */
export function refusalOf(
  principal: Principal,
  { access, forMerchants }: { access: Access; forMerchants: MerchantRole | null },
  params: Readonly<Record<string, string | undefined>>,
): 'closed' | 'foreign' | 'role' | null {
  if (access === 'anyone') return null;
  if (!isMerchantPerson(principal)) return mayCall(principal, access) ? null : 'closed';
  if (forMerchants === null) return 'closed';
  if (params['merchant_id'] !== principal.merchant_id) return 'foreign';
  return mayAct(principal, forMerchants) ? null : 'role';
}

/**
 * A person's name in an audit log: `@olga` is an operator, `@merchant/anna` is a merchant's person. Operators' names
 * never contain a slash.
 */
export const actorOf = (principal: Principal): string =>
  isMerchantPerson(principal) ? `@merchant/${principal.name}` : `@${principal.name}`;
