import type { Message } from 'amqplib';
import { newId } from '@quittance/contracts/ids.ts';

/** Any program may have published the message, so no property has a known type. */
export function propertiesOf(message: Message): Record<string, unknown> {
  return message.properties as unknown as Record<string, unknown>;
}

export function headersOf(message: Message): Record<string, unknown> {
  return message.properties.headers ?? {};
}

/** The UUIDv7 under a public id: later ids sort later, which keeps the pages of outbox and inbox local. */
export function newMessageId(): string {
  return newId('evt')
    .slice(-32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function isMessageId(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
