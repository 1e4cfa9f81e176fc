import { describe, expect, test } from '@jest/globals';
import type { ErrorCategory } from '@quittance/contracts/webhook.ts';
import { attemptErrors } from '../src/lanes/attempt-report.ts';
import {
  categoryOfConnectError,
  categoryOfSendError,
  categoryOfStatus,
  SendError,
  NameNotFound,
} from '../src/sending/errors.ts';

const errorWith = (code: string) => Object.assign(new Error('failed'), { code });

const connectErrors: [code: string, connected: boolean, category: ErrorCategory][] = [
  ['ECONNREFUSED', false, 'connect_refused'],
  ['ETIMEDOUT', false, 'connect_timeout'],
  ['ECONNRESET', false, 'connection_reset'],
  ['ECONNRESET', true, 'connection_reset'],
  ['ENETUNREACH', false, 'network_unreachable'],
  ['EHOSTUNREACH', false, 'network_unreachable'],
  ['EADDRNOTAVAIL', false, 'network_unreachable'],
  ['CERT_HAS_EXPIRED', true, 'tls_error'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', true, 'tls_error'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', true, 'tls_error'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', true, 'tls_error'],
  ['EPROTO', true, 'tls_error'],
  ['EMFILE', false, 'interrupted'],
];

const sendErrors: [error: Error, category: ErrorCategory][] = [
  [new NameNotFound('gone.io'), 'dns_error'],
  [new SendError('blocked_address', 'private'), 'blocked_address'],
  [errorWith('ECONNRESET'), 'connection_reset'],
  [errorWith('EPIPE'), 'connection_reset'],
  [errorWith('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'tls_error'],
  [errorWith('EHOSTUNREACH'), 'network_unreachable'],
  [errorWith('ETIMEDOUT'), 'response_timeout'],
  [errorWith('EMFILE'), 'interrupted'],
  [new Error('something new'), 'protocol_error'],
];

const statuses: [status: number, category: ErrorCategory | null][] = [
  [200, null],
  [204, null],
  [299, null],
  [101, 'protocol_error'],
  [300, 'redirect'],
  [308, 'redirect'],
  [400, 'http_4xx'],
  [429, 'http_4xx'],
  [500, 'http_5xx'],
  [599, 'http_5xx'],
  [600, 'protocol_error'],
];

describe('the category of a failed attempt', () => {
  test.each(connectErrors)('for %s while connecting (TCP established: %p) is %s', (code, connected, category) => {
    expect(categoryOfConnectError(errorWith(code), connected)).toBe(category);
  });

  test.each(sendErrors)('for %p is %s', (error, category) => {
    expect(categoryOfSendError(error)).toBe(category);
  });

  test.each(statuses)('for status %p is %p', (status, category) => {
    expect(categoryOfStatus(status)).toBe(category);
  });

  test('can be each category of the contract', () => {
    const reached = [
      ...connectErrors.map(([, , c]) => c),
      ...sendErrors.map(([, c]) => c),
      ...statuses.map(([, c]) => c),
    ];
    expect(new Set(reached)).toEqual(new Set([...attemptErrors, null]));
  });
});
