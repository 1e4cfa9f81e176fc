import type { ServiceName } from './service-name.ts';
import { checkOfSchema, describeErrors, type ObjectOf } from './schema.ts';

/** A message of the broker: its name, who publishes it, and the check of its body. */
export type MessageDefinition<T> = {
  /** Past tense, PascalCase; also the routing key. */
  name: string;
  /** Grows only with a change that an old reader could not read. */
  version: number;
  published_by: ServiceName;
  /**
   * For a message whose effect nobody waits for: under load relay and consumers handle it in sets that are at least this many milliseconds
   * apart, which takes fewer transactions. A lone one goes its way at once. Left out, none is kept.
   */
  spacingMs?: number;
  /** JSON Schema (draft 2020-12) of the body. Unknown fields are allowed, so that a newer sender does not break an older reader. */
  schema: { type: 'object'; required: readonly string[]; properties: Record<string, object> };
  /** @throws InvalidMessage that lists every problem. */
  parse(value: unknown): T;
};

/** A body that does not fit its message. Trying again cannot help. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

/**
 * Declares a message. The type of its body follows from the schemas of its fields.
 * @param definition.properties are required.
 * @param definition.optional may be absent: what an older sender does not know, or what a sender has nothing to say of.
 */
export function defineMessage<
  const Properties extends Record<string, object>,
  const Optional extends Record<string, object> = { [name in never]: object },
>(
  definition: Omit<MessageDefinition<unknown>, 'parse' | 'schema'> & { properties: Properties; optional?: Optional },
): MessageDefinition<Body<Properties, Optional>> {
  const { properties, optional, ...rest } = definition;
  const schema = {
    type: 'object',
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  } as const;
  const validate = checkOfSchema<Body<Properties, Optional>>(schema);
  return {
    ...rest,
    schema,
    parse(value) {
      if (validate(value)) return value;
      throw new InvalidMessage(`${definition.name}: ${describeErrors(validate.errors)}`);
    },
  };
}

type Body<Properties, Optional> = ObjectOf<Properties> & ObjectOf<Optional, never>;

/** The body of a message. */
export type BodyOfMessage<Definition extends MessageDefinition<unknown>> = ReturnType<Definition['parse']>;
