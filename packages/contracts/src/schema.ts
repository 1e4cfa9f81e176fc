import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { isVisible } from './visible.ts';

/** One ajv instance for every schema of the contracts. It collects all problems; a misspelled keyword is an error. */
const ajv = new Ajv2020({
  ...{ allErrors: true, strict: true, allowUnionTypes: true },
  // An empty text is reported by minLength.
  formats: { visible: (text) => text === '' || isVisible(text) },
});

/** Whether a value matches a schema. `errors` has the reasons of the last check. */
export type SchemaCheck<T> = { (value: unknown): value is T; errors?: ErrorObject[] | null };

/**
 * A check of a JSON Schema (draft 2020-12), compiled on first use: each service declares the calls and messages of all
 * others and uses few of them. Compiling all took a quarter of the start-up time.
 * @throws on first use when the schema itself is wrong. A unit test checks every declared schema.
 */
export function checkOfSchema<T>(schema: object): SchemaCheck<T> {
  let compiled: ValidateFunction<T> | null = null;
  const check: SchemaCheck<T> = (value): value is T => {
    compiled ??= ajv.compile<T>(schema);
    const fits = compiled(value);
    check.errors = compiled.errors ?? null;
    return fits;
  };
  return check;
}

/** The type of values that match a JSON Schema declared `as const`, for the keywords that the contracts use. */
export type TypeOf<Schema> = Schema extends { enum: readonly (infer Value)[] }
  ? Value
  : Schema extends { anyOf: readonly (infer Choice)[] }
    ? TypeOf<Choice>
    : Schema extends { items: infer Item }
      ? TypeOf<Item>[]
      : Schema extends { required: readonly (infer Name)[]; properties: infer Properties }
        ? ObjectOf<Properties, Name>
        : Schema extends { additionalProperties: infer Value extends object }
          ? Record<string, TypeOf<Value>>
          : Schema extends { type: infer Name }
            ? Types[(Name extends readonly unknown[] ? Name[number] : Name) & keyof Types]
            : unknown;

type Types = { string: string; integer: number; number: number; boolean: boolean; null: null };

/** An object with these fields. All are required unless `Required` names some. */
export type ObjectOf<Properties, Required = keyof Properties> = {
  -readonly [field in keyof Properties as field extends Required ? field : never]: TypeOf<Properties[field]>;
} & {
  -readonly [field in keyof Properties as field extends Required ? never : field]?: TypeOf<Properties[field]>;
};

/** All problems in one line: "/amount must match pattern …; / must have required property 'network'". */
export function describeErrors(errors: readonly ErrorObject[] | null | undefined): string {
  return (errors ?? [])
    .map((error) => `${error.instancePath || '/'} ${error.message ?? 'is invalid'}${culprit(error)}`)
    .join('; ');
}

/** What ajv leaves out of its message: the name of the unknown field, or the allowed values. */
function culprit({ keyword, params }: ErrorObject): string {
  const { additionalProperty, allowedValues } = params as { additionalProperty?: string; allowedValues?: unknown[] };
  if (keyword === 'additionalProperties') return `: '${String(additionalProperty)}'`;
  return keyword === 'enum' ? `: ${(allowedValues ?? []).join(', ')}` : '';
}
