/** What must never be, and is. `what` says of which rows, in a sentence for operators; it holds no secret. */
export type Violation = { rule: string; what: string };

/** Rows that one question is about, at most. */
export const CHECKED_AT_ONCE = 500;

/** A service may be this much behind the one before it; what changed later is not compared. */
export const CHECK_GRACE_SECONDS = 60;

/** A list of things with these fields, as many as one question may be about. */
export const checkedList = (properties: Readonly<Record<string, object>>): object => ({
  type: 'array',
  maxItems: CHECKED_AT_ONCE,
  items: { type: 'object', required: Object.keys(properties), properties },
});
