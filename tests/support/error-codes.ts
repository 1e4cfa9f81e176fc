import type { HttpAnswer } from './http.ts';

/** The codes that an error of each status may have, written again and not read from the code under test. */
const codes: Record<number, string[]> = {
  400: ['bad_request'],
  401: ['unauthorized'],
  403: [
    'account_inactive',
    'creation_paused',
    'beta_not_activated',
    'beta_expired',
    'total_quota_exhausted',
    'daily_quota_exhausted',
  ],
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
  414: ['bad_request'],
  422: ['invalid_request'],
  429: ['rate_limited'],
  431: ['headers_too_large'],
  500: ['internal_error'],
  503: ['unavailable'],
};

/** Problems with the code of a JSON answer; none for a success. */
export function codeProblems({ status, text, headers }: Pick<HttpAnswer, 'status' | 'text' | 'headers'>): string[] {
  if (status < 400 || text === '' || !(headers['content-type'] ?? '').startsWith('application/json')) return [];
  const { code, detail } = JSON.parse(text) as { code?: unknown; detail?: { code?: unknown } };
  if (!(codes[status] ?? []).includes(String(code))) return [`the code ${String(code)} does not belong to ${status}`];
  if (status === 403 && detail?.code !== code) return ['the code differs from the one in detail'];
  return [];
}
