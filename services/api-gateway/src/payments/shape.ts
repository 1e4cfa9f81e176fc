import { checkOfSchema } from '@quittance/contracts/schema.ts';
import type { ErrorObject } from 'ajv';
import type { ValidationItem } from '@quittance/http/errors.ts';
import { fieldName, PROBLEMS_MAX, type JsonObject } from '../request-body.ts';

/**
 * Compiles the schema of a flat object into a check that returns every invalid field with a readable reason.
 * @param schema JSON Schema; unknown fields are refused.
 */
export function shapeOf(schema: {
  required: readonly string[];
  properties: Record<string, object>;
}): (value: JsonObject) => ValidationItem[] {
  const validate = checkOfSchema({ type: 'object', additionalProperties: false, ...schema });
  return (value) => (validate(value) ? [] : (validate.errors ?? []).slice(0, PROBLEMS_MAX).map(toProblem));
}

function toProblem(error: ErrorObject): ValidationItem {
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
      return { field: String(params['missingProperty']), reason: 'is required' };
    case 'additionalProperties':
      return {
        field: fieldName(String(params['additionalProperty'])),
        reason: 'is not a field of this request',
      };
    case 'type':
      return { field: fieldOf(error), reason: `must be ${article(String(params['type']))}` };
    case 'enum':
      return { field: fieldOf(error), reason: `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}` };
    default:
      return { field: fieldOf(error), reason: error.message ?? 'is invalid' };
  }
}

const fieldOf = (error: ErrorObject): string => error.instancePath.slice(1);

const article = (type: string): string => `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type.replace(',', ' or ')}`;
