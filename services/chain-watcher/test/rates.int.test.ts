import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RatesObserved } from '@quittance/contracts/messages.ts';
import type { RateSource } from '@quittance/contracts/rates.ts';
import { createPool, type Pool } from '@quittance/postgres/pool.ts';
import { createMetrics } from '@quittance/runtime/metrics.ts';
import { testDatabase, type TestDatabase, testPool } from '@quittance/testkit/database.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger } from '@quittance/testkit/logger.ts';
import { migrations, schema } from '../src/migrations.ts';
import { startObserveRatesLoop } from '../src/rates/observe.ts';
import { readSource } from '../src/rates/read-source.ts';
import { parseSources } from '../src/rates/sources.ts';
import { documented, html, startRateServer } from './rate-server.ts';

type Server = Awaited<ReturnType<typeof startRateServer>>;
const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(change: Parameters<typeof startRateServer>[0] = {}): Promise<Server> {
  const server = await startRateServer(change);
  servers.push(server);
  return server;
}

const read = (name: RateSource, { base }: Pick<Server, 'base'>, signal = new AbortController().signal) =>
  readSource({ name, baseUrl: `${base}/${name}` }, signal);

describe('a documented answer is read:', () => {
  test('kraken, without a time of its own', async () => {
    const before = Date.now();
    const quotes = await read('kraken', await serve());
    expect(quotes.map(({ currency, value }) => [currency, value])).toEqual([
      ['USD', '0.99980'],
      ['EUR', '0.86120'],
    ]);
    for (const { as_of: time } of quotes) expect(Date.parse(time)).toBeGreaterThanOrEqual(before);
  });

  test('coinbase, bitstamp and the bank, with their times', async () => {
    const server = await serve();
    expect(await read('coinbase', server)).toEqual([
      { source: 'coinbase', currency: 'USD', value: '0.99985', as_of: '2026-03-04T12:00:00.123Z' },
      { source: 'coinbase', currency: 'EUR', value: '0.8613', as_of: '2026-03-04T11:59:00.000Z' },
    ]);
    expect(await read('bitstamp', server)).toEqual([
      { source: 'bitstamp', currency: 'USD', value: '0.99979', as_of: '2026-03-04T12:00:00.000Z' },
      { source: 'bitstamp', currency: 'EUR', value: '0.86110', as_of: '2026-03-04T12:00:00.000Z' },
    ]);
    const as_of = '2026-03-03T14:00:00.000Z';
    expect(await read('ecb', server)).toEqual([
      { source: 'ecb', currency: 'USD', value: '1.1592', as_of },
      { source: 'ecb', currency: 'JPY', value: '178.56', as_of },
      { source: 'ecb', currency: 'IDR', value: '18994.05', as_of },
    ]);
  });

  test('a time in the future becomes ours', async () => {
    const future = documented.coinbase('0.9', '2999-01-01T00:00:00Z');
    const server = await serve({ '/coinbase/products/USDT-USD/ticker': future });
    const [quote] = await read('coinbase', server);
    expect(Date.parse(quote!.as_of)).toBeLessThanOrEqual(Date.now());
  });
});

const krakenPath = '/kraken/0/public/Ticker';
const bankPath = '/ecb/stats/eurofxref/eurofxref-daily.xml';

describe('a source gives nothing', () => {
  test.each<[string, RateSource, NonNullable<Parameters<typeof serve>[0]>]>([
    ['if it sends HTML', 'kraken', { [krakenPath]: html }],
    ['if the bank sends HTML', 'ecb', { [bankPath]: html }],
    ['if it sends an error', 'kraken', { [krakenPath]: '{"error":["EGeneral:Too many requests"]}' }],
    ['if it sends null', 'kraken', { [krakenPath]: 'null' }],
    ['if the price is a number', 'bitstamp', { '/bitstamp/api/v2/ticker/usdtusd/': '{"last":1,"timestamp":"1"}' }],
    ['if the price is far too high', 'kraken', { [krakenPath]: documented.kraken('5.01', '0.86') }],
    ['if the price is far too low', 'kraken', { [krakenPath]: documented.kraken('0.9998', '0.19') }],
    ['if the price is zero', 'kraken', { [krakenPath]: documented.kraken('0.00', '0.86') }],
    ['if the price has an exponent', 'kraken', { [krakenPath]: documented.kraken('1e0', '0.86') }],
    ['without a time', 'coinbase', { '/coinbase/products/USDT-EUR/ticker': '{"price":"0.86"}' }],
    ['with an impossible time', 'coinbase', { '/coinbase/products/USDT-EUR/ticker': documented.coinbase('1', 'soon') }],
    [
      'if one of its markets is missing',
      'coinbase',
      { '/coinbase/products/USDT-EUR/ticker': (r) => r.writeHead(404).end('{}') },
    ],
    ['if it refuses', 'kraken', { [krakenPath]: (r) => r.writeHead(503).end(documented.kraken('1', '0.86')) }],
    ['if it redirects', 'kraken', { [krakenPath]: (r) => r.writeHead(302, { location: bankPath }).end() }],
    ['if it sends too much', 'kraken', { [krakenPath]: `${documented.kraken('1', '0.86')}${' '.repeat(64 * 1024)}` }],
    ['if it breaks off', 'kraken', { [krakenPath]: (r) => r.write('{', () => r.destroy()) }],
    ['if the bank has no rates', 'ecb', { [bankPath]: "<Cube time='2026-03-03'></Cube>" }],
    ['if the bank has a rate of zero', 'ecb', { [bankPath]: documented.ecb('2026-03-03').replace('178.56', '0.00') }],
    ['if the bank has no day', 'ecb', { [bankPath]: documented.ecb('2026-13-99') }],
  ])('%s', async (_, source, change) => {
    await expect(read(source, await serve(change))).rejects.toThrow();
  });

  test('if it hangs past the deadline', async () => {
    const server = await serve({ [krakenPath]: () => undefined });
    const deadline = new AbortController();
    const reading = read('kraken', server, deadline.signal);
    await eventually(() => expect(server.asked[krakenPath]).toBe(1));
    deadline.abort(new Error('too late'));
    await expect(reading).rejects.toThrow('too late');
  });
});

describe('RATE_SOURCES', () => {
  test('names sources, and may name other addresses', () => {
    expect(parseSources('kraken, coinbase,ecb=http://127.0.0.1:9/ecb/,bitstamp=https://proxy.example')).toEqual([
      { name: 'kraken', baseUrl: 'https://api.kraken.com' },
      { name: 'coinbase', baseUrl: 'https://api.exchange.coinbase.com' },
      { name: 'ecb', baseUrl: 'http://127.0.0.1:9/ecb' },
      { name: 'bitstamp', baseUrl: 'https://proxy.example' },
    ]);
  });

  test.each([
    ['kraken', 'at least two'],
    ['kraken,ecb', 'at least two'],
    ['kraken,kraken', 'repeat'],
    ['kraken,binance', 'names out of'],
    ['kraken,toString', 'names out of'],
    ['kraken,coinbase=http://api.example', 'https'],
    ['kraken,coinbase=https://user:pass@api.example', 'https'],
    ['kraken,coinbase=ftp://127.0.0.1', 'https'],
  ])('%s is refused', (text, reason) => expect(() => parseSources(text)).toThrow(reason));
});

describe('the replicas', () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await testDatabase({ schema, migrations });
    pool = testPool({ url: database.url, schema, max: 3 });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const metricsOf = () => createMetrics({ service: 'test', processMetrics: false });

  function replica({ base }: Server, published: RatesObserved[]) {
    const leaderPool = createPool({ url: database.url, schema, max: 1, logger: testLogger, applicationName: 'leader' });
    const metrics = metricsOf();
    const sources = parseSources(
      ['kraken', 'coinbase', 'bitstamp', 'ecb'].map((name) => `${name}=${base}/${name}`).join(','),
    );
    const outbox = {
      send: (_: unknown, __: unknown, message: object) => {
        published.push(message as RatesObserved);
        return Promise.resolve();
      },
    };
    const loop = startObserveRatesLoop({
      sources,
      pool,
      leaderPool,
      leaseMs: 15_000,
      outbox,
      logger: testLogger,
      metrics,
    });
    return {
      metrics,
      close: async () => {
        await loop.close();
        await leaderPool.end();
      },
    };
  }

  test('read the sources once together, and another takes over when the first stops', async () => {
    const server = await serve({ '/coinbase/products/USDT-EUR/ticker': html });
    const published: RatesObserved[] = [];
    const first = replica(server, published);
    await eventually(() => expect(published.length).toBe(1));
    const second = replica(server, published);
    try {
      // Its first run has ended: it does not lead.
      await eventually(async () => {
        const { text } = await second.metrics.render();
        expect(text).toMatch(/^loop_run_duration_seconds_count\{[^}]*observe-rates[^}]*\} [1-9]/m);
      });
      expect(server.asked[krakenPath]).toBe(1);
      const sources = new Set(published[0]!.quotes.map(({ source }) => source));
      expect(sources).toEqual(new Set(['kraken', 'bitstamp', 'ecb']));
      const { text } = await first.metrics.render();
      expect(text).toMatch(/^rate_reads_total\{[^}]*source="coinbase",outcome="failed"[^}]*\} 1$/m);
      expect(text).toMatch(/^rate_reads_total\{[^}]*source="kraken",outcome="ok"[^}]*\} 1$/m);
      await first.close();
      await eventually(() => expect(published.length).toBe(2), { timeoutMs: 30_000 });
    } finally {
      await second.close();
    }
  });
});
