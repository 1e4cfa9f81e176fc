import { defineCall, json, object } from '../../call.ts';
import { query } from '../../query.ts';
import type { DeliveryRecord } from '../../webhook.ts';
import type { AuditEntry } from '../audit.ts';
import type { Lane } from './lanes.ts';

/** The events of one payment, newest first. Empty for a payment without events and for another merchant's payment. */
export const ListDeliveries = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/payments/:payment_id/deliveries',
  json<{ deliveries: DeliveryRecord[] }>(),
  { callers: ['api-gateway'], access: 'viewer', forMerchants: 'viewer' },
);

/** A merchant's retry. 404 for an unknown event or another merchant's; 409 unless it has failed. */
export const RetryEvent = defineCall(
  'webhook-dispatcher',
  'POST /merchants/:merchant_id/events/:event_id/retry',
  json<DeliveryRecord>(),
  { callers: ['api-gateway'], status: 202 },
);

/** Like a merchant's retry, without its hourly limit. */
export const RecoverEvent = defineCall('webhook-dispatcher', 'POST /events/:event_id/recover', json<DeliveryRecord>(), {
  authored: true,
  access: 'support',
  status: 202,
});

export type FailedEvent = DeliveryRecord & { merchant_id: string; cycle: number; interruptions: number };

/** Failed events are counted only up to this number. */
export const FAILED_EVENTS_MAX = 100_000;

/**
 * The oldest hundred, after an event if one is given, of one merchant or of all. `total` is the number of all failed
 * events.
 */
export const ListFailedEvents = defineCall(
  'webhook-dispatcher',
  'GET /events',
  json<{ events: FailedEvent[]; total: number }>(),
  {
    access: 'viewer',
    query: { status: query.oneOf('failed'), merchant_id: query.text, after: query.id('evt', 'an event') },
  },
);

export type EventState = DeliveryRecord & {
  merchant_id: string;
  cycle: number;
  cycle_started_at: string;
  interruptions: number;
  /** A process is sending it; `next_attempt_at` is when its lease expires. */
  in_flight: boolean;
};

/** One finished POST. */
export type AttemptRecord = {
  cycle: number;
  n: number;
  started_at: string;
  duration_ms: number;
  http_status: number | null;
  /** Null for a 2xx. */
  error_category: string | null;
  key_id: string;
  remote_ip: string | null;
};

/** Who requested another delivery cycle: `merchant`, which gives no reason, or an operator. */
export type RetryRecord = Pick<AuditEntry, 'at' | 'action' | 'actor' | 'reason'>;

/**
 * `lane` is its merchant's queue, null if there is none. Attempts and retries are the newest hundred; attempts are
 * before a time if one is given. `retries` is absent in answers of older releases.
 */
export type DescribedEvent = {
  event: EventState;
  lane: Lane | null;
  attempts: AttemptRecord[];
  retries?: RetryRecord[];
};

const page = { access: 'viewer', query: { before: query.timestamp } } as const;

export const ReadEvent = defineCall('webhook-dispatcher', 'GET /events/:event_id', json<DescribedEvent>(), page);

/**
 * An event as its merchant sees it: with every attempt, but without IP addresses, which may belong to a private
 * network.
 */
export type OwnEvent = { event: DeliveryRecord; attempts: Omit<AttemptRecord, 'remote_ip'>[] };

/** Attempts as above. 404 for an unknown event and for another merchant's. */
export const ReadOwnEvent = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/events/:event_id',
  json<OwnEvent>(),
  { ...page, forMerchants: 'viewer' },
);

export const ReadEventOfPayment = defineCall(
  'webhook-dispatcher',
  'GET /payments/:payment_id/event',
  json<DescribedEvent>(),
  page,
);

/** An event as the archive stores it; `body` is the exact text that was signed and sent. */
export type ArchivedDelivery = DeliveryRecord & { body: string };

/** The events of payments of any merchant, oldest first. */
export const ReadDeliveries = defineCall(
  'webhook-dispatcher',
  'POST /archive/deliveries',
  json<{ deliveries: ArchivedDelivery[] }>(),
  {
    access: 'admin',
    idempotent: true,
    body: object<{ payment_ids: string[] }>({
      payment_ids: { type: 'array', maxItems: 200, items: { type: 'string' } },
    }),
  },
);

/**
 * The state of a merchant's webhooks as the merchant sees it: both of its queues, and the oldest hundred of its failed
 * events.
 */
export type WebhookHealth = { lanes: Omit<Lane, 'private_target'>[]; failed: { events: FailedEvent[]; total: number } };

export const ReadWebhookHealth = defineCall(
  'webhook-dispatcher',
  'GET /merchants/:merchant_id/webhook/health',
  json<WebhookHealth>(),
  { access: 'viewer', forMerchants: 'viewer' },
);
