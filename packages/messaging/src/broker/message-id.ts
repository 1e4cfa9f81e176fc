import { newId } from '@quittance/contracts/ids.ts';

/** The UUIDv7 under a public id: later ids sort later, which keeps the pages of outbox and inbox local. */
export function newMessageId(): string {
  return newId('evt')
    .slice(-32)
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function isMessageId(text: unknown): text is string {
  return typeof text === 'string' && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}
