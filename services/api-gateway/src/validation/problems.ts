/** A caller who sends thousands of wrong fields is told about the first ones only. */
export const PROBLEMS_MAX = 100;

const FIELD_MAX_CHARACTERS = 100;

/** The name of a field that the caller made up, as far as it is worth repeating. */
export const fieldName = (name: string): string => name.slice(0, FIELD_MAX_CHARACTERS).toWellFormed();
