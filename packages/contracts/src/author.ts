/** Who changed something, and why. Every row of an audit log has it. */
export type Author = { actor: string; reason: string };

/**
 * @returns the JSON Schema of a text that a person wrote. PostgreSQL can store neither NUL nor half a surrogate pair.
 */
export const textSchema = (maxLength: number) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '^[^\\u0000\\ud800-\\udfff]*$' }) as const;

/** @returns the JSON Schema of a name that a person chose: a text with at least one visible character. */
export const nameSchema = (maxLength: number) => ({ ...textSchema(maxLength), format: 'visible' }) as const;

/**
 * JSON Schemas of the author's fields in an operator's request body. Shared, so that every service accepts the same.
 */
export const authorProperties = { actor: nameSchema(200), reason: textSchema(1000) };
