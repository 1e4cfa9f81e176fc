import type { ErrorCategory } from '@quittance/contracts/webhook.ts';

/** Why an attempt got no answer. */
export class SendError extends Error {
  override readonly name: string = 'SendError';
  readonly category: ErrorCategory;
  /** For the log; without it, the cause's. */
  readonly code: string | undefined;
  constructor(category: ErrorCategory, message: string, options: ErrorOptions & { code?: string } = {}) {
    super(message, options);
    this.category = category;
    this.code = options.code;
  }
}

/** The name does not exist or has no address. If no resolver answers, that is a different error. */
export class NameNotFound extends SendError {
  override readonly name = 'NameNotFound';
  constructor(host: string) {
    super('dns_error', `${host} does not exist`);
  }
}

/**
 * The error category of an HTTP status. Only the status line decides about the delivery.
 * @returns null for 2xx, the only success.
 */
export function categoryOfStatus(status: number): ErrorCategory | null {
  if (status >= 200 && status <= 299) return null;
  if (status >= 300 && status <= 399) return 'redirect';
  if (status >= 400 && status <= 499) return 'http_4xx';
  if (status >= 500 && status <= 599) return 'http_5xx';
  return 'protocol_error';
}

/** Node's system errors with the same meaning before and after a connection is established. */
const systemErrors: Record<string, ErrorCategory> = {
  ECONNREFUSED: 'connect_refused',
  ECONNRESET: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  EPIPE: 'connection_reset',
  ENETUNREACH: 'network_unreachable',
  ENETDOWN: 'network_unreachable',
  EHOSTUNREACH: 'network_unreachable',
  EHOSTDOWN: 'network_unreachable',
  EADDRNOTAVAIL: 'network_unreachable',
  EAFNOSUPPORT: 'network_unreachable',
  EACCES: 'network_unreachable',
  EPERM: 'network_unreachable',
};

/** This process ran out of a resource. That is not the receiver's fault, so the attempt does not count. */
const ownFaults = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM']);

/** Why connecting failed. @param connected whether TCP was established, so that the TLS handshake failed. */
export function categoryOfConnectError(error: NodeJS.ErrnoException, connected: boolean): ErrorCategory {
  const code = error.code ?? '';
  if (ownFaults.has(code)) return 'interrupted';
  if (code === 'ETIMEDOUT') return 'connect_timeout';
  return systemErrors[code] ?? (connected ? 'tls_error' : 'network_unreachable');
}

/**
 * Why an attempt got no status line.
 * @returns `interrupted` only for our own faults: such an attempt does not count.
 */
export function categoryOfSendError(error: unknown): ErrorCategory {
  if (error instanceof SendError) return error.category;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (ownFaults.has(code)) return 'interrupted';
  if (code === 'ETIMEDOUT') return 'response_timeout';
  if (systemErrors[code] !== undefined) return systemErrors[code];
  // A receiver that requires a client certificate fails only after the handshake.
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return 'tls_error';
  return 'protocol_error';
}

const errorCode = /^[A-Z][A-Z0-9_]{1,63}$/;

/**
 * The code of an error or of its cause, from Node, OpenSSL or the reader of answers, for the log. Messages are not logged: certificate
 * checks quote what the receiver sent.
 */
export function codeOfSendError(error: unknown): string | null {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === 'string' && errorCode.test(code)) return code;
  }
  return null;
}
