/** Who changed something, and why: what every row of an audit says. */
export type Author = { actor: string; reason: string };

/** @returns the JSON Schema of a text that a person wrote. PostgreSQL can store neither a NUL in one nor half of a character. */
export const textSchema = (maxLength: number) =>
  ({ type: 'string', minLength: 1, maxLength, pattern: '^[^\\u0000\\ud800-\\udfff]*$' }) as const;

/** @returns the JSON Schema of a name that a person chose: a text in which something shows. */
export const nameSchema = (maxLength: number) => ({ ...textSchema(maxLength), format: 'visible' }) as const;

/** JSON Schemas of the author's fields in an operator's body. One definition, so that no service refuses what another takes. */
export const authorProperties = { actor: nameSchema(200), reason: textSchema(1000) };
