import type { ServiceName } from './service-name.ts';
import { compileSchema, describeErrors } from './schema.ts';

/** A message of the broker: its name, who says it, and the check of its body. */
export type MessageDefinition<T> = {
  /** Past tense, PascalCase; also the routing key. */
  name: string;
  /** Grows only with a change that an old reader could not take. */
  version: number;
  published_by: ServiceName;
  /** JSON Schema (draft 2020-12) of the body. Unknown fields are allowed, so that a newer sender does not break an older reader. */
  schema: { type: 'object'; required: readonly string[]; properties: Record<string, object> };
  /** @throws InvalidMessage that lists every problem. */
  parse(value: unknown): T;
};

/** A body that does not fit its message. Trying again cannot help. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

export function defineMessage<T>(
  definition: Omit<MessageDefinition<T>, 'parse' | 'schema'> & {
    properties: { [field in keyof T]-?: object };
  },
): MessageDefinition<T> {
  const { properties, ...rest } = definition;
  const schema = { type: 'object', required: Object.keys(properties), properties } as const;
  const validate = compileSchema<T>(schema);
  return {
    ...rest,
    schema,
    parse(value) {
      if (validate(value)) return value;
      throw new InvalidMessage(`${definition.name}: ${describeErrors(validate.errors)}`);
    },
  };
}
