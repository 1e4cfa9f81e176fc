import { describe, expect, test } from '@jest/globals';

import { isRetryable, isUnavailable, isValueRefused, leavesConnectionUsable } from '../src/errors.ts';

/** An error as pg throws it for a server's message. */
function databaseError(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`SQLSTATE ${code}`), { code, severity: 'ERROR', ...fields });
}

/** An error as Node throws it for a system call. */
function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect', errno: -1 });
}

const unavailableStates = [
  ...['08000', '08001', '08003', '08004', '08006', '08007', '08P01'],
  ...['25006', '25P03', '25P04', '28000', '28P01', '3D000', '40001', '40003', '40P01'],
  ...['53000', '53100', '53200', '53300', '53400', '55P03'],
  ...['57000', '57014', '57P01', '57P02', '57P03', '57P04', '57P05', '58000', '58030'],
];
const finalStates = [
  '22001',
  '22P02',
  '23502',
  '23503',
  '23505',
  '23514',
  '25001',
  '25P02',
  '42501',
  '42601',
  '42P01',
  'XX000',
];
const networkCodes = [
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND'],
  ...['EAI_AGAIN', 'EADDRNOTAVAIL', 'EMFILE'],
];
const driverMessages = [
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Cannot use a pool after calling end on the pool',
];

describe('unavailable, so that the same request may succeed later', () => {
  test.each(unavailableStates)('SQLSTATE %s', (code) => {
    expect(isUnavailable(databaseError(code))).toBe(true);
  });
  test.each(networkCodes)('network error %s', (code) => {
    expect(isUnavailable(systemError(code))).toBe(true);
  });
  test.each(driverMessages)('the driver says "%s"', (message) => {
    expect(isUnavailable(new Error(message))).toBe(true);
  });
  test.each(['P1001', 'P1008', 'P1017', 'P2024', 'P2034', 'P2037'])('Prisma says %s', (code) => {
    expect(isUnavailable(Object.assign(new Error(code), { code }))).toBe(true);
    expect(isUnavailable(Object.assign(new Error(code), { errorCode: code }))).toBe(true);
  });
  test('wrapped: as a cause, in an AggregateError, by a Prisma driver adapter', () => {
    expect(isUnavailable(new Error('outer', { cause: systemError('ECONNREFUSED') }))).toBe(true);
    expect(isUnavailable(new AggregateError([systemError('ECONNREFUSED')]))).toBe(true);
    const adapterError = Object.assign(new Error('DriverAdapterError'), {
      cause: { kind: 'postgres', originalCode: '57P01', message: 'terminating connection' },
    });
    expect(isUnavailable(adapterError)).toBe(true);
    const clientError = Object.assign(new Error('raw query failed'), {
      code: 'P2010',
      meta: { driverAdapterError: adapterError },
    });
    expect(isUnavailable(clientError)).toBe(true);
  });
  test.each(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout'])('a raw Prisma query that met %s', (kind) => {
    const adapterError = Object.assign(new Error('DriverAdapterError'), { cause: { kind } });
    const error = Object.assign(new Error('raw query failed'), {
      code: 'P2010',
      meta: { driverAdapterError: adapterError },
    });
    expect(isUnavailable(error)).toBe(true);
  });
});

describe('not unavailable, because it would fail again', () => {
  test.each(finalStates)('SQLSTATE %s', (code) => {
    expect(isUnavailable(databaseError(code))).toBe(false);
  });
  test.each([new TypeError('x is not a function'), databaseError('P2002'), 'ECONNREFUSED', null, undefined, 42, {}])(
    '%p',
    (error) => {
      expect(isUnavailable(error)).toBe(false);
    },
  );
  test('an error that is its own cause', () => {
    const error: Error & { cause?: unknown } = new Error('loop');
    error.cause = error;
    expect(isUnavailable(error)).toBe(false);
  });
});

test('only deadlocks and serialization failures are worth running the transaction again', () => {
  expect(['40001', '40P01', '40003', '55P03', '08006'].filter((code) => isRetryable(databaseError(code)))).toEqual([
    '40001',
    '40P01',
  ]);
});

test('only values that no column can store are refused permanently', () => {
  expect(
    ['22003', '22008', '22P02', '22012', '23505', '40001', '08006'].filter((code) =>
      isValueRefused(databaseError(code)),
    ),
  ).toEqual(['22003', '22008', '22P02']);
  expect(isValueRefused(new Error('not about the database'))).toBe(false);
});

test('a connection is kept after errors that the server survived, and closed when in doubt', () => {
  for (const code of ['23505', '42P01', '55P03', '57014', '40P01', '53100']) {
    expect(leavesConnectionUsable(databaseError(code))).toBe(true);
  }
  expect(leavesConnectionUsable(new Error('not about the database'))).toBe(true);
  for (const code of ['57P01', '25006', '25P03', '08006', '53300']) {
    expect(leavesConnectionUsable(databaseError(code))).toBe(false);
  }
  expect(leavesConnectionUsable(new Error('Query read timeout'))).toBe(false);
  expect(leavesConnectionUsable(systemError('ECONNRESET'))).toBe(false);
});
