import { describe, expect, test } from '@jest/globals';
import {
  RpcError,
  classifyHttpStatus,
  classifyRpcError,
  classifyTransportError,
  type RpcErrorKind,
} from '../src/rpc/errors.ts';

/** What nodes and providers are known to say. */
const sayings: [RpcErrorKind, number, string][] = [
  ['range', -32005, 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
  ['range', -32602, 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range'],
  ['range', -32614, 'eth_getLogs is limited to a 10,000 range'],
  ['range', -32600, 'block range is too wide'],
  ['range', -32701, 'exceed maximum block range: 5000'],
  ['range', -32000, 'exceed max block range: 5000'],
  ['range', -32000, 'requested too many blocks from 1 to 3000, maximum is set to 2048'],
  ['range', -32602, 'Block range limit exceeded. See more details in the documentation'],
  ['range', -32600, 'You can make eth_getLogs requests with up to a 500 block range'],
  ['range', 35, 'ranges over 10000 blocks are not supported on freetier'],
  ['range', -32005, 'logs matched by query exceeds limit of 10000'],
  ['range', -32000, 'query exceeds max results 20000, retry with the range 100-200'],
  ['range', -32008, 'Response is too big'],
  ['range', -32020, 'backend response too large'],
  ['range', -32000, 'exceed max topics: 1000'],
  ['range', -32600, 'batch size is too large'],
  ['range', -32005, 'limit exceeded'],
  ['rate_limit', 429, 'Your app has exceeded its compute units per second capacity.'],
  ['rate_limit', -32005, 'project ID request rate exceeded'],
  ['rate_limit', -32005, 'daily request count exceeded, request rate limited'],
  ['rate_limit', -32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
  ['rate_limit', -32029, 'rate limit exceeded'],
  ['rate_limit', 0, 'class java.lang.Exception : lack of computing resources'],
  ['unknown_block', -32000, 'unknown block'],
  ['unknown_block', -32001, 'header not found'],
  ['unknown_block', -32000, 'missing trie node 1234 (path )'],
  ['unknown_block', -32000, 'block with number 5 not found'],
  ['unknown_block', 4444, 'pruned history unavailable'],
  ['unsupported', -32601, 'Method not found'],
  ['unsupported', -32601, 'the method eth_newFilter does not exist/is not available'],
  ['unsupported', -32602, 'TAG [safe | finalized] not supported'],
  ['unsupported', -32602, 'invalid argument 0: hex string without 0x prefix'],
  ['unsupported', -39001, 'safe tag not yet supported'],
  ['unknown', -32603, 'internal error'],
];

describe('what a provider says', () => {
  test.each(sayings)('%s: (%d) %s', (kind, code, message) => {
    expect(classifyRpcError('eth_getLogs', code, message).kind).toBe(kind);
  });

  test('"limit exceeded" without eth_getLogs is about how often we ask', () => {
    expect(classifyRpcError('eth_blockNumber', -32005, 'limit exceeded').kind).toBe('rate_limit');
  });
});

test.each([
  [429, 'rate_limit'],
  [413, 'range'],
  [403, 'refused'],
  [502, 'unreachable'],
])('HTTP %d is %s', (status, kind) => {
  expect(classifyHttpStatus(status).kind).toBe(kind);
});

describe('what the connection says', () => {
  test('a deadline and a refused connection are told apart', () => {
    expect(classifyTransportError(new DOMException('late', 'TimeoutError')).kind).toBe('timeout');
    expect(classifyTransportError(Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' })).kind).toBe(
      'timeout',
    );
    expect(classifyTransportError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })).kind).toBe('unreachable');
  });

  test('an error that is classified already stays as it is', () => {
    const error = new RpcError('invalid_answer', 'html');
    expect(classifyTransportError(error)).toBe(error);
  });

  test('the text of the HTTP client, which may name the host, is not repeated', () => {
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND key-123.example'), { code: 'ENOTFOUND' });
    expect(classifyTransportError(error).message).not.toContain('example');
  });
});
