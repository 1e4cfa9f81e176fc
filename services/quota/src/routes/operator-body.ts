import { compileSchema } from '@quittance/contracts/schema.ts';
import { invalid } from '@quittance/http/errors.ts';
import type { Author } from '../changes.ts';
import { MAX_BETA_DAYS } from '../policy.ts';

/** Far above any real account, and still within PostgreSQL's integer. */
const MAX_LIMIT = 1_000_000_000;

export const days = { type: 'integer', minimum: 1, maximum: MAX_BETA_DAYS };
export const limit = { type: 'integer', minimum: 0, maximum: MAX_LIMIT };
/** Null means no daily cap. */
export const dailyLimit = { ...limit, type: ['integer', 'null'] };

const authorSchema = {
  actor: { type: 'string', minLength: 1, maxLength: 100 },
  reason: { type: 'string', minLength: 1, maxLength: 500 },
};

/**
 * Makes the check of an operator's body: `actor` and `reason` always, the rest as given.
 * @param fields JSON Schemas of the fields beyond the author.
 * @param required those of them that must be there.
 * @returns a parser that throws 422 with `[{field, reason}]`, naming every problem.
 */
export function operatorBody<F>(fields: { [field in keyof F]-?: object }, required: (keyof F & string)[] = []) {
  const validate = compileSchema<F & Author>({
    type: 'object',
    additionalProperties: false,
    required: ['actor', 'reason', ...required],
    properties: { ...authorSchema, ...fields },
  });
  return (value: unknown): { author: Author; fields: F } => {
    if (validate(value)) {
      const { actor, reason, ...rest } = value;
      return { author: { actor, reason }, fields: rest as F };
    }
    throw invalid(
      ...(validate.errors ?? []).map((error) => ({ field: fieldOf(error), reason: error.message ?? 'is invalid' })),
    );
  };
}

// Ajv names a missing or unknown property in `params`, every other problem by its path.
function fieldOf(error: { instancePath: string; params: Record<string, unknown> }): string {
  const named = error.params['missingProperty'] ?? error.params['additionalProperty'];
  return typeof named === 'string' ? named : error.instancePath.slice(1) || 'body';
}
