/**
 * True when the database is unreachable or can't answer now, so that the same request may succeed later: the caller
 * answers 503 or retries. True for network errors, time limits (ours and the server's), a server that is starting,
 * stopping, full or read-only, and for deadlocks and serialization failures that remain after retries.
 * False for everything that would fail again: constraint violations, wrong SQL, missing permissions.
 * Looks through `cause`, AggregateErrors and Prisma's wrappers of driver errors.
 */
export function isUnavailable(error: unknown): boolean {
  return chain(error).some((link) => {
    const code = codeOf(link);
    if (code !== null) return isUnavailableCode(code);
    const { kind, message } = link as { kind?: string; message?: string };
    return adapterKinds.has(kind ?? '') || driverMessages.has(message ?? '');
  });
}

/** The server refuses this role's login: a wrong password, no such role, or no access. A retry doesn't help. */
export function isLoginRefused(error: unknown): boolean {
  return chain(error).some((link) => codeOf(link)?.startsWith('28') === true);
}

/** The server aborted this transaction in favour of another one. It may succeed when it runs again. */
export function isRetryable(error: unknown): boolean {
  const code = codeOf(error);
  return code === '40001' || code === '40P01';
}

/**
 * The server refuses a value, such as a date that doesn't exist or a number that is too large for its column. A retry
 * doesn't help.
 */
export function isValueRefused(error: unknown): boolean {
  return refusedValues.has(codeOf(error) ?? '');
}

/**
 * Whether a connection can be used again after a rollback, when its transaction failed with this error. Yes for errors
 * that the server reported and survived, and for errors unrelated to the database. No when the connection is lost or
 * silent, or leads to a server that has become read-only.
 */
export function leavesConnectionUsable(error: unknown): boolean {
  const survives = ['55P03', '57014', '40001', '40P01', '53100', '53200'];
  return !isUnavailable(error) || survives.includes(codeOf(error) ?? '');
}

/**
 * The database serves no client now. False for errors of one statement while others succeed: a lock that is not free, a
 * statement that is too slow, a transaction that was aborted in favour of another.
 */
export function isOutage(error: unknown): boolean {
  const ofOneStatement = ['55P03', '57014', '40001', '40P01', '25P03', '25P04'];
  return isUnavailable(error) && !ofOneStatement.includes(codeOf(error) ?? '');
}

const refusedValues = new Set([
  '22003', // numeric value out of range
  '22007', // invalid datetime format
  '22008', // datetime field overflow
  '22021', // character not in repertoire
  '22P02', // invalid text representation
  '22P05', // untranslatable character
]);

/** SQLSTATE classes, https://www.postgresql.org/docs/current/errcodes-appendix.html */
const unavailableClasses = [
  '08', // connection exception
  '28', // invalid authorization: the service cannot log in
  '53', // insufficient resources: disk full, out of memory, too many connections
  '57', // operator intervention: shutdown, crash, starting up, query cancelled by a time limit
  '58', // system error: I/O
];
const unavailableStates = new Set([
  '25006', // read-only transaction: a standby, or a primary that was demoted
  '25P03', // idle in transaction for too long
  '25P04', // transaction for too long
  '3D000', // the database does not exist (yet)
  '40001', // serialization failure
  '40003', // statement completion unknown
  '40P01', // deadlock
  '55P03', // lock not available in time
]);
const networkCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENETRESET',
  'EADDRNOTAVAIL',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'ERR_SOCKET_CLOSED',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_DESTROYED',
]);
/** Prisma's own codes for the same conditions, https://www.prisma.io/docs/orm/reference/error-reference */
const prismaCodes = new Set(['P1000', 'P1001', 'P1002', 'P1003', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034', 'P2037']);
/** Prisma's driver adapter turns a network error into one of these. Errors of raw queries carry nothing else. */
const adapterKinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout']);
/** Messages of pg and pg-pool without a code. */
const driverMessages = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]);

function isUnavailableCode(code: string): boolean {
  if (networkCodes.has(code) || prismaCodes.has(code) || unavailableStates.has(code)) return true;
  // A SQLSTATE has five characters. So do 'EPIPE' and Prisma's codes, but none of them begins with one of the classes
  // above.
  return code.length === 5 && unavailableClasses.includes(code.slice(0, 2));
}

/** The error and its causes, outermost first; bounded, because an error may refer to itself. */
function chain(error: unknown): object[] {
  const links: object[] = [];
  const queue = [error];
  while (queue.length > 0 && links.length < 20) {
    const link = queue.shift();
    if (typeof link !== 'object' || link === null || links.includes(link)) continue;
    links.push(link);
    const { cause, errors, meta } = link as {
      cause?: unknown;
      errors?: unknown;
      meta?: { driverAdapterError?: unknown };
    };
    queue.push(cause, meta?.driverAdapterError, ...(Array.isArray(errors) ? (errors as unknown[]) : []));
  }
  return links;
}

/** An error's code, wherever pg, Node, Prisma's client or its driver adapter put it. */
function codeOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  const { code, errorCode, originalCode } = error as { code?: unknown; errorCode?: unknown; originalCode?: unknown };
  for (const candidate of [originalCode, code, errorCode]) if (typeof candidate === 'string') return candidate;
  return null;
}
