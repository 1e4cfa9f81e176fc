import { describe, expect, test } from '@jest/globals';
import {
  classifyHttpStatus,
  classifyRpcError,
  classifyTransportError,
  parseRetryAfter,
} from '../src/rpc/classify-error.ts';
import { RpcError, type RpcErrorKind } from '../src/rpc/errors.ts';

/** The known errors of nodes and providers for an eth_getLogs, or for a batch with one. */
const sayings: [RpcErrorKind, number, string][] = [
  // Infura
  ['range', -32005, 'query returned more than 10000 results. Try with this block range [0x1, 0x2].'],
  ['range', -32602, 'range 1000000 exceeds limit of 10000'],
  ['range', -32005, 'query timeout exceeded'],
  ['range', -32000, 'This query contains 5006 filters. The current limit is 5000.'],
  ['rate_limit', -32005, 'project ID request rate exceeded'],
  [
    'rate_limit',
    -32005,
    'exceeded project rate limit {"rate":{"allowed_rps":5,"backoff_seconds":30,"current_rps":5.2}}',
  ],
  ['rate_limit', -32005, 'daily request count exceeded, request rate limited'],
  ['rate_limit', -32005, 'Payment Required'],
  ['unknown_block', -32000, 'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.'],
  // Alchemy
  ['range', -32602, 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range'],
  ['range', -32600, 'You can make eth_getLogs requests with up to a 500 block range'],
  ['range', -32600, 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.'],
  ['range', -32000, 'Query timeout exceeded. Consider reducing your block range.'],
  ['rate_limit', 429, 'Your app has exceeded its compute units per second capacity.'],
  ['rate_limit', -32000, 'Monthly capacity limit exceeded. Visit the dashboard to upgrade your scaling policy'],
  // QuickNode
  ['range', -32614, 'eth_getLogs is limited to a 10,000 range'],
  ['range', -32614, 'eth_getLogs is limited to a 5 range'],
  ['rate_limit', -32012, 'credits limited to 6000/sec'],
  ['rate_limit', -32007, '50/second request limit reached - reduce calls per second or upgrade your account'],
  ['rate_limit', -32003, 'daily request limit reached - upgrade your account'],
  // Ankr
  ['range', -32600, 'block range is too wide'],
  ['range', -32000, 'maximum [from, to] blocks distance: 1000'],
  ['refused', -32000, 'Unauthorized: You must authenticate your request with an API key.'],
  // Chainstack
  ['range', -32602, 'Block range limit exceeded. See more details in the documentation'],
  ['rate_limit', -32005, "You've exceeded the RPS limit available on the current plan."],
  // dRPC
  ['range', 35, 'ranges over 10000 blocks are not supported on freetier'],
  ['range', -32000, 'query exceeds max block range 1000'],
  ['batch_size', 31, 'Batch of more than 3 requests are not allowed on free tier, to use this feature register'],
  ['timeout', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'],
  ['unknown', 19, 'Temporary internal error. Please retry, trace-id: 1'],
  ['unknown', 12, "Can't route your request to suitable provider"],
  // PublicNode
  ['range', -32701, 'exceed maximum block range: 50000'],
  ['range', -32000, 'Please, specify less number of addresses'],
  ['unknown_block', -32701, 'History has been pruned for this block'],
  [
    'unsupported',
    -32701,
    'Please specify an address in your request or, to remove restrictions, order a dedicated full node here: https://www.allnodes.com/eth/host',
  ],
  ['unknown_block', -32602, 'Archive requests require a personal token'],
  // LlamaRPC, merkle.io
  ['range', -32603, 'eth_getLogs range is too large, max is 1k blocks'],
  ['range', -32000, 'query exceeds max results 20000, retry with the range 100-200'],
  ['rate_limit', -32090, 'Too many requests, reason: call rate limit exhausted, retry in 10s'],
  // Cloudflare
  ['range', -32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800"],
  ['rate_limit', -32046, 'Cannot fulfill request: rate limit reached'],
  // BlastAPI
  [
    'range',
    -32602,
    'Invalid params {"range":"the range 1 - 50000 exceeds the range allowed for your plan (49999 > 2000)."}',
  ],
  ['range', -32600, 'eth_getLogs is limited to a 500 blocks range'],
  // 1RPC
  ['range', -32000, 'eth_getLogs is limited to 0 - 10000 blocks range'],
  ['range', -32000, 'response size should not greater than 10000000 bytes'],
  ['rate_limit', -32001, 'Exceeded the quota usage'],
  ['rate_limit', -32001, '1rpc usage limit exceeded'],
  // BlockPI, Tenderly, thirdweb, Coinbase, Avalanche, Moonriver, Harmony, Sei, GetBlock
  ['range', -32602, 'eth_getLogs is limited to 1024 block range. Please check the parameter requirements'],
  ['range', -32602, 'invalid params {"payload":"range 9009594 is bigger than range limit 2000"}'],
  ['range', -32602, 'Maximum allowed number of requested blocks is 3500'],
  ['range', -32000, 'please limit the query to at most 1000 blocks'],
  ['range', -32000, 'requested too many blocks from 1 to 3000, maximum is set to 2048'],
  ['range', -32600, 'block range is too wide (maximum 1024)'],
  ['range', -32000, 'query must be smaller than size 1024'],
  ['range', -32000, 'block range too large (2000), maximum allowed is 1000 blocks'],
  ['rate_limit', -32005, 'rate limit exceeded'],
  ['rate_limit', -32000, 'max usage reached'],
  // BNB's own nodes, which refuse every eth_getLogs with these words
  ['range', -32005, 'limit exceeded'],
  // Optimism and Base, behind proxyd
  ['range', -32020, 'backend response too large'],
  ['range', -32000, 'Block range is too large'],
  ['rate_limit', -32016, 'over rate limit'],
  ['rate_limit', -32012, 'backend is over capacity'],
  ['unknown', -32011, 'no backend is currently healthy to serve traffic'],
  // Arbitrum nitro and its public endpoint
  ['range', -32005, 'logs matched by query exceeds limit of 10000'],
  ['rate_limit', -32000, 'Public RPC Rate Limit Hit, limit will reset in 60 seconds'],
  // geth, bor, op-geth
  ['range', -32000, 'exceed max addresses or topics per search position'],
  ['range', -32003, 'response too large'],
  ['batch_size', -32600, 'batch too large'],
  ['timeout', -32002, 'request timed out'],
  ['unknown_block', -32602, 'block range extends beyond current head block'],
  ['unknown_block', 4444, 'pruned history unavailable'],
  ['unknown_block', -32000, 'failed to get logs for block #0 (0xd4e567..cb8fa3)'],
  ['unknown_block', -32000, 'unknown block'],
  ['unknown_block', -32001, 'header not found'],
  ['unknown_block', -32000, 'missing trie node 1234 (path )'],
  ['unknown_block', -32000, 'block with number 5 not found'],
  ['unsupported', -39001, 'finalized block not found'],
  ['unsupported', -39001, 'safe block not found'],
  ['unsupported', -32601, 'the method eth_newFilter does not exist/is not available'],
  ['unsupported', -32602, 'invalid argument 0: hex string without 0x prefix'],
  ['unknown', -32602, 'invalid block range params'],
  // Erigon
  ['batch_size', -32600, 'batch limit 100 exceeded (can increase by --rpc.batch.limit). Requested batch of size: 101'],
  ['unknown_block', -32000, 'history has been pruned for this block'],
  // Nethermind
  ['batch_size', -32005, 'Batch size limit exceeded'],
  ['batch_size', -32005, 'MaxBatchResponseBodySize of 33554432 exceeded'],
  ['unknown_block', -32000, 'Receipt not available for From block 14319330.'],
  ['unknown_block', -32002, 'No state available for block 0x3f9e'],
  ['timeout', -32016, 'eth_getLogs request was canceled due to enabled timeout.'],
  // Besu
  ['range', -32000, 'Requested range exceeds maximum RPC range limit'],
  ['batch_size', -32005, 'Number of requests exceeds max batch size'],
  // Reth and others on jsonrpsee
  ['range', -32602, 'query exceeds max block range 100000'],
  ['range', -32008, 'Response is too big'],
  ['range', -32007, 'Request is too big'],
  ['batch_size', -32010, 'The batch request was too large Exceeded max limit of 100'],
  ['batch_size', -32005, 'Batched requests are not supported by this server'],
  // java-tron and TronGrid
  ['range', -32003, 'Response exceeds the limit of 10000'],
  ['range', -32602, 'exceed max addresses: 1000'],
  ['unknown_block', -32602, 'invalid blockHash'],
  ['range', -32602, 'exceed max block range: 5000'],
  ['range', -32602, 'exceed max topics: 1000'],
  ['batch_size', -32005, 'Batch size 100 exceeds the limit of 1'],
  ['rate_limit', 0, 'class java.lang.Exception : lack of computing resources'],
  ['rate_limit', 0, 'The key exceeds the frequency limit(15), and the query server is suspended for 30s'],
  ['rate_limit', 0, 'request rate exceeded the allowed_rps(3), and the query server is suspended for 5 s'],
  ['unsupported', -32602, 'TAG [earliest | pending | finalized | safe] not supported'],
  ['unsupported', -32602, 'TAG safe not supported'],
  ['unsupported', -32602, 'invalid block number'],
  // Moralis, and codes without words
  [
    'rate_limit',
    -32000,
    'Your plan: free-plan-daily total included usage has been consumed, please upgrade your plan: usage limit',
  ],
  ['rate_limit', 429, ''],
  ['range', -32005, ''],
  ['unknown_block', 4444, ''],
  ['unsupported', -32601, 'Method not found'],
  ['unsupported', -32602, 'TAG [safe | finalized] not supported'],
  ['unsupported', -39001, 'safe tag not yet supported'],
  ['unknown', -32603, 'internal error'],
  ['unknown', -32000, 'execution aborted'],
];

describe('the error of a provider', () => {
  test.each(sayings)('%s: (%d) %s', (kind, code, message) => {
    expect(classifyRpcError('eth_getLogs', code, message).kind).toBe(kind);
  });

  test.each([
    [-32005, 'limit exceeded'],
    [-32005, ''],
  ])('(%d) "%s" without eth_getLogs is about how often we ask', (code, message) => {
    expect(classifyRpcError('eth_blockNumber', code, message).kind).toBe('rate_limit');
  });

  test('a long text is cut, so that no node can fill our log', () => {
    expect(classifyRpcError('eth_getLogs', 1, 'x'.repeat(10_000)).message.length).toBeLessThan(400);
  });
});

describe('the range that a text suggests', () => {
  test.each<[string, { from: number; to: number } | { blocks: number } | null]>([
    ['query returned more than 10000 results. Try with this block range [0xA, 0x1F].', { from: 10, to: 31 }],
    [
      'You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]',
      { from: 18_354_122, to: 18_354_131 },
    ],
    ['query exceeds max results 20000, retry with the range 100-200', { from: 100, to: 200 }],
    ['You can make eth_getLogs requests with up to a 500 block range', { blocks: 500 }],
    ['Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range', { blocks: 2000 }],
    ['eth_getLogs is limited to a 10,000 range', { blocks: 10_000 }],
    ['eth_getLogs is limited to a 10 block range', { blocks: 10 }],
    ['eth_getLogs is limited to 0 - 10000 blocks range', { blocks: 10_000 }],
    ['eth_getLogs is limited to 1024 block range', { blocks: 1024 }],
    ['eth_getLogs range is too large, max is 1k blocks', { blocks: 1000 }],
    ['exceed maximum block range: 5000', { blocks: 5000 }],
    ['exceed max block range: 5000', { blocks: 5000 }],
    ['query exceeds max block range 1000', { blocks: 1000 }],
    ['block range is larger than max block range, block range = 5120, max block range = 5000', { blocks: 5000 }],
    ["'fromBlock'-'toBlock' range too large. Max range: 800", { blocks: 800 }],
    ['ranges over 10000 blocks are not supported on freetier', { blocks: 10_000 }],
    ['range 1000000 exceeds limit of 10000', { blocks: 10_000 }],
    ['range 9009594 is bigger than range limit 2000', { blocks: 2000 }],
    ['the range 1 - 50000 exceeds the range allowed for your plan (49999 > 2000).', { blocks: 2000 }],
    ['please limit the query to at most 1,000 blocks', { blocks: 1000 }],
    ['requested too many blocks from 1 to 3000, maximum is set to 2048', { blocks: 2048 }],
    ['block range too large (2000), maximum allowed is 1000 blocks', { blocks: 1000 }],
    ['block range is too wide (maximum 1024)', { blocks: 1024 }],
    ['Maximum allowed number of requested blocks is 3500', { blocks: 3500 }],
    ['maximum [from, to] blocks distance: 1000', { blocks: 1000 }],
    ['query returned more than 10000 results', null],
    ['block range is too wide', null],
    ['this block range should work: [0x20, 0x10]', null],
    ['this block range should work: [0x1, 0xffffffffffffff]', null],
    ['exceed maximum block range: 0', null],
  ])('%s', (text, suggested) => {
    expect(classifyRpcError('eth_getLogs', -32000, text).suggested).toEqual(suggested);
  });

  test('is looked for in errors about ranges only', () => {
    expect(classifyRpcError('eth_getLogs', 429, 'rate limit, at most 5 requests').suggested).toBeNull();
  });
});

describe('how long a provider must not be asked', () => {
  test.each([
    ['call rate limit exhausted, retry in 10s', 10_000],
    ['The key exceeds the frequency limit(15), and the query server is suspended for 30s', 30_000],
    ['request rate exceeded the allowed_rps(3), and the query server is suspended for 5 s', 5_000],
    ['rate limit {"rate":{"backoff_seconds":30}}', 30_000],
    ["You've exceeded the RPS limit. try_again_in 250.5 ms", 251],
    ['Public RPC Rate Limit Hit, limit will reset in 60 seconds', 60_000],
    ['rate limit exceeded', null],
    ['Payment Required', 60_000],
    ['request rate limited {"rate":{"backoff_seconds":0}}', null],
  ])('%s', (text, waitMs) => {
    expect(classifyRpcError('eth_getLogs', 0, text).retryAfterMs).toBe(waitMs);
  });

  test('the header takes precedence over the text', () => {
    expect(classifyRpcError('eth_getLogs', 429, 'retry in 10s', { retryAfterMs: 3_000 }).retryAfterMs).toBe(3_000);
  });

  test.each([
    ['7', 7_000],
    ['Wed, 01 Jan 2025 00:00:30 GMT', 30_000],
    ['Wed, 01 Jan 2025 00:00:00 GMT', null],
    ['Tue, 31 Dec 2024 23:00:00 GMT', null],
    ['0', null],
    ['-5', null],
    ['soon', null],
    ['2025', 2_025_000],
    [undefined, null],
  ])('a Retry-After header of %s', (header, waitMs) => {
    expect(parseRetryAfter(header, new Date('2025-01-01T00:00:00Z'))).toBe(waitMs);
  });
});

test.each([
  [429, 'rate_limit'],
  [413, 'batch_size'],
  [401, 'refused'],
  [402, 'rate_limit'],
  [403, 'refused'],
  [502, 'unreachable'],
  [503, 'unreachable'],
  [504, 'timeout'],
  [301, 'unreachable'],
])('HTTP %d is %s', (status, kind) => {
  expect(classifyHttpStatus(status).kind).toBe(kind);
});

test('an endpoint whose plan is used up is not asked for a minute', () => {
  expect(classifyHttpStatus(402).retryAfterMs).toBe(60_000);
  expect(classifyHttpStatus(402, 5_000).retryAfterMs).toBe(5_000);
});

describe('the error of a connection', () => {
  test('a deadline and a refused connection have different kinds', () => {
    expect(classifyTransportError(new DOMException('late', 'TimeoutError')).kind).toBe('timeout');
    expect(classifyTransportError(Object.assign(new Error('x'), { code: 'UND_ERR_CONNECT_TIMEOUT' })).kind).toBe(
      'timeout',
    );
    expect(classifyTransportError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })).kind).toBe('unreachable');
  });

  test('an error that is already classified stays unchanged', () => {
    const error = new RpcError('invalid_answer', 'html');
    expect(classifyTransportError(error)).toBe(error);
  });

  test('the text of the HTTP client, which may name the host, is not repeated', () => {
    const error = Object.assign(new Error('getaddrinfo ENOTFOUND key-123.example'), { code: 'ENOTFOUND' });
    expect(classifyTransportError(error).message).not.toContain('example');
  });
});
