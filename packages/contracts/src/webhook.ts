/** What a merchant reads of its endpoint; the signing key is never part of it. */
export type WebhookSettings = { url: string; key_id: string; created_at: string; updated_at: string };

/** Why an attempt failed, in words a merchant can act on. */
export const errorCategories = [
  'dns_error',
  'blocked_address',
  'connect_refused',
  'connect_timeout',
  'connection_reset',
  'network_unreachable',
  'tls_error',
  'response_timeout',
  'protocol_error',
  'redirect',
  'http_4xx',
  'http_5xx',
  'interrupted',
] as const;

export type ErrorCategory = (typeof errorCategories)[number];

/** `pending` also covers an attempt in flight. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed';

export type DeliveryRecord = {
  event_id: string;
  payment_id: string;
  status: DeliveryStatus;
  /** Attempts of the current cycle that ended, from 0. */
  attempts: number;
  created_at: string;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  delivered_at: string | null;
  /** Null before a failure and after delivery. */
  error_category: ErrorCategory | null;
};

/** The body of a delivery. Its bytes are stored once and never change. Source: the API contract, "Webhook event". */
export type WebhookEvent = {
  event_id: string;
  payment_id: string;
  status: 'PAID';
  expected_amount: string;
  transaction_id: string;
  transaction_event_index: number;
  description: string;
};
