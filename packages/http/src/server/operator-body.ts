import { authorProperties, type Author } from '@quittance/contracts/author.ts';
import { compileSchema } from '@quittance/contracts/schema.ts';

import { readJson } from './body.ts';
import { invalid } from '../errors.ts';
import type { RouteRequest } from './route.ts';

/** The longest author fits, even with every character escaped. */
const MAX_BODY_BYTES = 16 * 1024;

/**
 * Makes the reader of an operator's body: `actor` and `reason` always, the rest as given, and nothing else.
 * @param fields JSON Schemas of the fields beyond the author.
 * @param required those of them that must be there.
 * @returns a function that throws what readJson throws, and 422 with `[{field, reason}]`, naming every problem.
 */
export function operatorBody<F>(fields: { [field in keyof F]-?: object }, required: (keyof F & string)[] = []) {
  const validate = compileSchema<F & Author>({
    type: 'object',
    additionalProperties: false,
    required: ['actor', 'reason', ...required],
    properties: { ...authorProperties, ...fields },
  });
  const parse = (value: unknown): { author: Author; fields: F } => {
    if (validate(value)) {
      const { actor, reason, ...rest } = value;
      return { author: { actor, reason }, fields: rest as F };
    }
    throw invalid(
      ...(validate.errors ?? []).map((error) => ({ field: fieldOf(error), reason: error.message ?? 'is invalid' })),
    );
  };
  return (request: RouteRequest) => readJson(request, MAX_BODY_BYTES, parse);
}

// Ajv names a missing or unknown property in `params`, every other problem by its path.
function fieldOf(error: { instancePath: string; params: Record<string, unknown> }): string {
  const named = error.params['missingProperty'] ?? error.params['additionalProperty'];
  return typeof named === 'string' ? named : error.instancePath.slice(1) || 'body';
}
