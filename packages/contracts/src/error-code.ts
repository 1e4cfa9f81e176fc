import { creationBlockReasons } from './access.ts';

/** Every error status, with the codes that its body may have. Source: the API contract's extensions, "Errors". */
export const errorCodes = {
  400: ['bad_request'],
  401: ['unauthorized'],
  403: creationBlockReasons,
  404: ['not_found'],
  405: ['method_not_allowed'],
  408: ['request_timeout'],
  409: [
    'payment_unfinished',
    'wallet_of_another_merchant',
    'webhook_not_configured',
    'idempotency_conflict',
    'cancel_unavailable',
    'event_not_retryable',
    'transfer_not_acceptable',
    'wallet_pool_exhausted',
    'wallet_in_use',
    'wallet_dedicated',
    'proof_unavailable',
  ],
  413: ['body_too_large'],
  422: ['invalid_request'],
  429: ['rate_limited'],
  431: ['headers_too_large'],
  500: ['internal_error'],
  503: ['unavailable', 'rate_unavailable'],
} as const;

export type ErrorCode = (typeof errorCodes)[keyof typeof errorCodes][number];

export type ConflictCode = (typeof errorCodes)[409][number];
