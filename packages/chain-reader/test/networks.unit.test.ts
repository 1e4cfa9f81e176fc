import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { readNetworks } from '../src/chain/networks.ts';

const shipped = JSON.parse(readFileSync(new URL('../../../infra/networks.json', import.meta.url), 'utf8')) as {
  id: string;
  rpc_urls: string[];
}[];

/** The shipped file with these URLs filled in. */
const withUrls = (urls: Record<string, (string | object)[]>) =>
  shipped.map((network) => ({ ...network, rpc_urls: urls[network.id] ?? [] }));

describe('the shipped networks file', () => {
  test('is valid and enables no network by itself', () => {
    expect(readNetworks(shipped, {})).toEqual([]);
  });

  test('needs nothing but URLs, for every network', () => {
    const urls = Object.fromEntries(shipped.map(({ id }) => [id, [`https://${id}.example`]]));
    expect(readNetworks(withUrls(urls), {}).map(({ id }) => id)).toEqual(shipped.map(({ id }) => id));
  });
});

describe('what follows from an entry', () => {
  test('the contract is compared in the form that logs use, on Tron, too', () => {
    const [ethereum, tron] = readNetworks(withUrls({ ethereum: ['http://a'], tron: ['http://b'] }), {});
    expect(ethereum?.token).toBe('0xdac17f958d2ee523a2206206994597c13d831ec7');
    expect(tron?.token).toBe('0xa614f803b6fd780986a42c78ec9c7f77e6ded13c');
  });

  test('the empty Bloom filters of Tron prove nothing', () => {
    const [ethereum, tron] = readNetworks(withUrls({ ethereum: ['http://a'], tron: ['http://b'] }), {});
    expect(tron?.mayHoldTransfer).toBeNull();
    expect(ethereum?.mayHoldTransfer?.(`0x${'0'.repeat(512)}`)).toBe(false);
  });
});

describe('a header that rules out a transfer', () => {
  test('is enough on chains whose filters cover all events: not on Tron, and on Polygon only if the file says so', () => {
    const urls = Object.fromEntries(shipped.map(({ id }) => [id, [`https://${id}.example`]]));
    const isEnough = (file: object[]) =>
      Object.fromEntries(readNetworks(file, {}).map(({ id, hasEventsInBloom }) => [id, hasEventsInBloom]));
    const file = withUrls(urls).map((network) => ({ ...network, events_outside_bloom: undefined }));
    expect(isEnough(file)).toMatchObject({ ethereum: true, bnb: true, polygon: false, arbitrum: true, tron: false });
    expect(isEnough(file.map((network) => ({ ...network, events_outside_bloom: false })))).toMatchObject({
      polygon: true,
      tron: false,
    });
    expect(isEnough(withUrls(urls))).toMatchObject({ base: true, polygon: false });
  });
});

describe('a plan with a daily limit', () => {
  const planOf = (entry: object) =>
    readNetworks(withUrls({ base: [{ url: 'http://a', ...entry }] }), {})[0]?.endpoints[0]?.dailyPlan;

  test('names a list of prices that is shipped, or has its own', () => {
    const none = { requestsPerDay: null, unitsPerDay: null, unitPrices: null, beginsAtMinute: 0 };
    expect(planOf({})).toBeNull();
    expect(planOf({ requests_per_day: 100_000, day_begins_at: '08:30' })).toEqual({
      ...{ ...none, requestsPerDay: 100_000, beginsAtMinute: 510 },
    });
    expect(planOf({ units_per_day: 1_000_000, unit_prices: 'alchemy' })?.unitPrices).toMatchObject({ eth_getLogs: 60 });
    const own = { default: 1, eth_getLogs: 50 };
    expect(planOf({ units_per_day: 1_000_000, unit_prices: own })).toEqual({
      ...{ ...none, unitsPerDay: 1_000_000, unitPrices: own },
    });
  });
});

describe('thresholds', () => {
  test("are amounts of USDT, regardless of the token's decimals", () => {
    const [bnb] = readNetworks(
      withUrls({ bnb: ['http://a', 'http://b'] }).map((entry) => ({ ...entry, agreement_above_amount: '2500.5' })),
      {},
    );
    expect(bnb).toMatchObject({ agreementAbove: 2_500_500_000_000_000_000_000n, finalizedAbove: null });
    expect(readNetworks(withUrls({ base: ['http://a'] }), {})).toMatchObject([
      { finalizedAbove: 10_000_000_000n, agreementAbove: null },
    ]);
  });

  test('above which finality is required also need a second endpoint, if there is one', () => {
    const agreementAbove = 10_000_000_000n;
    const two = withUrls({ base: ['http://a', 'http://b'] });
    expect(readNetworks(two, {})).toMatchObject([{ agreementAbove }]);
    const agreeing = (amount: string) => two.map((entry) => ({ ...entry, agreement_above_amount: amount }));
    expect(readNetworks(agreeing('20000'), {})).toMatchObject([{ agreementAbove }]);
    expect(readNetworks(agreeing('500'), {})).toMatchObject([{ agreementAbove: 500_000_000n }]);
  });

  test('where blocks prove their transfers, a second endpoint is asked about each, if there is one', () => {
    const read = (id: string, ...urls: string[]) => readNetworks(withUrls({ [id]: urls }), {});
    expect(read('ethereum', 'http://a', 'http://b')).toMatchObject([
      { isProven: true, crossCheckedAbove: 0n, agreementAbove: 10_000_000_000n },
    ]);
    expect(read('ethereum', 'http://a')).toMatchObject([{ isProven: true, crossCheckedAbove: null }]);
    expect(read('base', 'http://a', 'http://b')).toMatchObject([
      { isProven: false, crossCheckedAbove: 10_000_000_000n },
    ]);
  });
});

describe('keys in URLs', () => {
  const networks = withUrls({ ethereum: ['https://rpc.example/${ETHEREUM_KEY}', 'https://other.example'] });

  test('are filled in from the environment', () => {
    const [ethereum] = readNetworks(networks, { ETHEREUM_KEY: 'abc' });
    expect(ethereum?.endpoints.map(({ url }) => url)).toEqual(['https://rpc.example/abc', 'https://other.example']);
  });

  test('in headers are filled in, too, and a WebSocket belongs to its endpoint', () => {
    const entry = {
      url: 'https://api.trongrid.example/jsonrpc',
      headers: { 'TRON-PRO-API-KEY': '${TRON_KEY}' },
      ws_url: 'wss://ws.example/${TRON_KEY}',
      requests_per_second: 15,
    };
    const [tron] = readNetworks(withUrls({ tron: [entry, 'https://other.example'] }), { TRON_KEY: 'abc' });
    expect(tron?.endpoints).toEqual([
      {
        url: 'https://api.trongrid.example/jsonrpc',
        headers: { 'tron-pro-api-key': 'abc' },
        wsUrl: 'wss://ws.example/abc',
        requestsPerSecond: 15,
        dailyPlan: null,
      },
      { url: 'https://other.example', headers: {}, wsUrl: null, requestsPerSecond: null, dailyPlan: null },
    ]);
    expect(() =>
      readNetworks(withUrls({ tron: [{ ...entry, ws_url: 'https://ws.example' }] }), { TRON_KEY: 'abc' }),
    ).toThrow(/tron: rpc_urls\[0\]\.ws_url is not a ws\(s\) URL/);
  });

  test('that are missing stop the start and are named', () => {
    expect(() => readNetworks(networks, {})).toThrow(/ethereum: ETHEREUM_KEY is not set/);
  });

  test('of an unset variable are not sent as placeholders', () => {
    expect(() => readNetworks(withUrls({ base: ['https://rpc.example/${my-key}'] }), {})).toThrow(/my-key is not set/);
  });

  test('that are not valid in a header stop the start, and are not shown', () => {
    const entry = { url: 'https://rpc.example', headers: { 'X-Key': '${BASE_KEY}' } };
    for (const key of ['hush-hush\n', 'hush\u0001hush', 'hush☃hush']) {
      expect(() => readNetworks(withUrls({ base: [entry] }), { BASE_KEY: key })).toThrow(
        /^(?!.*hush).*base: rpc_urls\[0\]\.headers: x-key holds a character that no header can/,
      );
    }
  });

  test('that make two endpoints the same stop the start', () => {
    const twice = withUrls({ base: ['https://rpc.example/${FIRST}', 'https://RPC.example/${SECOND}'] });
    expect(readNetworks(twice, { FIRST: 'a', SECOND: 'b' })).toHaveLength(1);
    expect(() => readNetworks(twice, { FIRST: 'a', SECOND: 'a' })).toThrow(/base: rpc_urls name an endpoint twice/);
  });

  test('that break a URL stop the start', () => {
    const login = withUrls({ base: ['https://user:${PASSWORD}@rpc.example'] });
    expect(() => readNetworks(login, { PASSWORD: '100%' })).toThrow(/base: rpc_urls\[0\] is not an http\(s\) URL/);
  });

  test('never appear in the error about a URL', () => {
    const broken = withUrls({ ethereum: ['ftp://user:${ETHEREUM_KEY}@rpc.example'] });
    expect(() => readNetworks(broken, { ETHEREUM_KEY: 'hush-hush' })).toThrow(
      /^(?!.*hush-hush).*rpc_urls\[0\] is not an http\(s\) URL/,
    );
  });
});
