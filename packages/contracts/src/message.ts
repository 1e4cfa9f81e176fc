import type { ServiceName } from './service-name.ts';
import { checkOfSchema, describeErrors, type ObjectOf } from './schema.ts';

/** A message on the broker: its name, its publisher, and the check of its body. */
export type MessageDefinition<T> = {
  /** Past tense, PascalCase; also the routing key. */
  name: string;
  /** Incremented only by a change that an old consumer could not read. */
  version: number;
  published_by: ServiceName;
  /**
   * For a message whose effect nobody waits for. Under load, relay and consumers process such messages in batches at
   * least this many milliseconds apart, which takes fewer transactions. A single message is sent immediately. Without
   * it, there is no spacing.
   */
  spacingMs?: number;
  /**
   * JSON Schema (draft 2020-12) of the body. Unknown fields are allowed, so that a newer sender doesn't break an older
   * reader.
   */
  schema: { type: 'object'; required: readonly string[]; properties: Record<string, object> };
  /** @throws InvalidMessage that lists every problem. */
  parse(value: unknown): T;
};

/** A body that doesn't match its message's schema. Retrying doesn't help. */
export class InvalidMessage extends Error {
  override readonly name = 'InvalidMessage';
}

/**
 * Declares a message. The type of its body is derived from the schemas of its fields.
 * @param definition.properties are required.
 * @param definition.optional may be absent: unknown to an older sender, or not always applicable.
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
