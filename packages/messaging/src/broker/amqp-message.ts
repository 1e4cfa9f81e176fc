import type { Message } from 'amqplib';

/** The properties of a message that came over the wire. Anybody may have sent it, so nothing is known of their types. */
export function propertiesOf(message: Message): Record<string, unknown> {
  return message.properties as unknown as Record<string, unknown>;
}

export function headersOf(message: Message): Record<string, unknown> {
  return message.properties.headers ?? {};
}
