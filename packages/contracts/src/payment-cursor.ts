import { isId } from './ids.ts';

/**
 * A payment's position in a list, newest first. No two payments have the same one. payments writes it; the gateway
 * refuses any other text.
 */
export type Cursor = { createdAt: Date; paymentId: string };

/** Opaque to merchants: only texts that this function wrote can be read. */
export function writeCursor({ createdAt, paymentId }: Cursor): string {
  return Buffer.from(`${createdAt.getTime()}.${paymentId}`).toString('base64url');
}

/** @returns null for a text that writeCursor() did not write. */
export function readCursor(text: string): Cursor | null {
  const [, time, paymentId] = /^(\d{1,15})\.(\w{36})$/.exec(Buffer.from(text, 'base64url').toString('utf8')) ?? [];
  if (time === undefined || paymentId === undefined || !isId('pay', paymentId)) return null;
  const cursor = { createdAt: new Date(Number(time)), paymentId };
  // Base64 can encode the same bytes in several ways, and a Date is limited to 8.64e15 milliseconds.
  return !Number.isNaN(cursor.createdAt.getTime()) && writeCursor(cursor) === text ? cursor : null;
}
