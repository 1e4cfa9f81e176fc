import { VISIBLE } from './visible.ts';

/** What an operator may do. Each role may do what those before it may. */
export const operatorRoles = ['viewer', 'support', 'admin'] as const;

export type OperatorRole = (typeof operatorRoles)[number];

/** A person who runs the system. */
export type Operator = { name: string; role: OperatorRole };

/**
 * Who may make an internal call beside the services that it names: an operator of at least this role, or nobody. `anyone` is for calls that
 * carry their own secret.
 */
export type Access = OperatorRole | 'services' | 'anyone';

export function mayCall(operator: Operator, access: Access): boolean {
  if (access === 'anyone') return true;
  return access !== 'services' && operatorRoles.indexOf(operator.role) >= operatorRoles.indexOf(access);
}

/** Short, in lower case and without spaces, so that no two names look alike in an audit. */
export const OPERATOR_NAME = '^[a-z][a-z0-9._-]{1,39}$';

/**
 * How an audit names an operator. The mark says that the person signed in. Who runs `ops` with its key calls itself what it likes, but for a
 * name with this mark, or one that looks as if it had it.
 */
export const actorOf = ({ name }: Operator): string => `@${name}`;

export const isActorOfOperator = (actor: string): boolean =>
  looksMarked.test(actor.normalize('NFKC')) || /\p{Bidi_Control}/u.test(actor);

/** NFKC turns other forms of @ into it. What shows nothing may come before it, and what reorders a text may put it first. */
const looksMarked = new RegExp(`^(?:(?!${VISIBLE})[^])*@`, 'u');
