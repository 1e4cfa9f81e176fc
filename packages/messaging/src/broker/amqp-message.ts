import type { Message } from 'amqplib';

/** Any program may have published the message, so no property has a known type. */
export function propertiesOf(message: Message): Record<string, unknown> {
  return message.properties as unknown as Record<string, unknown>;
}

export function headersOf(message: Message): Record<string, unknown> {
  return message.properties.headers ?? {};
}
