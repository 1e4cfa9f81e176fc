/** A broken rule. `what` says in which rows, as a sentence for operators without secrets. */
export type Violation = { rule: string; what: string };

/** The most rows in one request. */
export const CHECKED_AT_ONCE = 500;

/** A service may be this far behind the one before it. Later changes are not compared. */
export const CHECK_GRACE_SECONDS = 60;

/** The schema of a list of items with these fields, as many as one request may have. */
export const checkedList = (properties: Readonly<Record<string, object>>): object => ({
  type: 'array',
  maxItems: CHECKED_AT_ONCE,
  items: { type: 'object', required: Object.keys(properties), properties },
});
