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
 * An operator's name in an audit log. The mark says that the person signed in. A user of `ops` with its key may choose
 * any name, except one with this mark or one that looks like it.
 */
export const actorOf = ({ name }: Operator): string => `@${name}`;

export const isActorOfOperator = (actor: string): boolean =>
  looksMarked.test(actor.normalize('NFKC')) || /\p{Bidi_Control}/u.test(actor);

/**
 * NFKC normalises other forms of @. Invisible characters may come before it, and bidirectional controls may make it
 * appear first.
 */
const looksMarked = new RegExp(`^(?:(?!${VISIBLE})[^])*@`, 'u');
