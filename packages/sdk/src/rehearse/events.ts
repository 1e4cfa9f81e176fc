import { createHmac, randomBytes } from 'node:crypto';
import type { HttpRequest } from './send.ts';

export type SigningKey = { id: string; key: string };

/** A payment that events are about. The receiver need not know it, unless it looks up its orders. */
export type RehearsedPayment = {
  payment_id: string;
  expected_amount: string;
  order_id?: string;
  metadata?: Record<string, string>;
  description?: string;
  requested_amount?: string;
};

export type Event = Record<string, unknown> & { event_id: string };

const hex = (bytes: number): string => randomBytes(bytes).toString('hex');

export const newEventId = (): string => `evt_${hex(16)}`;

export function inventPayment(): RehearsedPayment {
  const id = hex(16);
  return { payment_id: `pay_${id}`, expected_amount: '10.50', order_id: `rehearsal-${id.slice(0, 12)}` };
}

/** Fields and their order as in a real event. */
export function paidEvent(payment: RehearsedPayment): Event {
  const { payment_id, expected_amount, description = 'Rehearsal', order_id, metadata, requested_amount } = payment;
  return {
    event_id: newEventId(),
    payment_id,
    status: 'PAID',
    expected_amount,
    transaction_id: hex(32),
    transaction_event_index: 7,
    description,
    ...(order_id !== undefined && { order_id }),
    ...(metadata !== undefined && { metadata }),
    ...(requested_amount !== undefined && { requested_amount }),
  };
}

/** An event of a kind other than PAID, such as `payment.expired` with EXPIRED. */
export function notice(payment: RehearsedPayment, eventType: string, status: string): Event {
  const { event_id, ...fields } = paidEvent(payment);
  const noTransfer = { transaction_id: null, transaction_event_index: null };
  return { event_id, event_type: eventType, ...fields, status, ...(status !== 'CHECKING' && noTransfer) };
}

/** A transfer that cannot be for any payment. */
export function unmatchedTransfer(): Event {
  const { event_id, transaction_id, transaction_event_index } = paidEvent(inventPayment());
  return {
    event_id,
    event_type: 'transfer.unmatched',
    payment_id: null,
    status: 'UNMATCHED',
    expected_amount: null,
    transaction_id,
    transaction_event_index,
    description: null,
    transfer: {
      amount: '3.00',
      reason: null,
      network: 'bsc',
      merchant_wallet: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
      block_timestamp: new Date().toISOString(),
    },
    candidates: [],
  };
}

export const testEvent = (): Event => ({
  event_id: newEventId(),
  event_type: 'test',
  payment_id: null,
  status: 'TEST',
  expected_amount: '0',
  transaction_id: null,
  transaction_event_index: null,
  description: 'Test event',
});

/** How a request differs from a genuine one. */
export type Differences = {
  method?: string;
  /** Used instead of the event as JSON. */
  body?: string;
  /** The signed text, instead of the body. */
  signedBody?: string;
  key?: SigningKey;
  /** Unix seconds, or an invalid text; it is signed as it is. */
  timestamp?: number | string;
  /** Replace the genuine ones; null leaves one out. */
  headers?: Record<string, string | string[] | null>;
};

export const sign = (key: string, timestamp: string, body: string): string =>
  `v1=${createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex')}`;

/** The request that delivers the event, with these differences. */
export function delivery(event: Event, presentKey: SigningKey, differences: Differences = {}): HttpRequest {
  const { method = 'POST', body = JSON.stringify(event), signedBody = body, key = presentKey } = differences;
  const timestamp = String(differences.timestamp ?? unixNow());
  const headers: Record<string, string | string[] | null> = {
    'Content-Type': 'application/json',
    'User-Agent': 'Quittance',
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': sign(key.key, timestamp, signedBody),
    'X-Service-Event-ID': event.event_id,
    'X-Service-Key-ID': key.id,
    ...differences.headers,
  };
  const given = Object.entries(headers).filter((header): header is [string, string | string[]] => header[1] !== null);
  return { method, headers: Object.fromEntries(given), body };
}

export const unixNow = (): number => Math.floor(Date.now() / 1_000);
