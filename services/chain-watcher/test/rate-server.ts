import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * Answers as the public documentation of the sources has them: docs.kraken.com ("Get Ticker Information"), docs.cdp.coinbase.com (Exchange
 * API, "Get product ticker"), bitstamp.net/api ("Ticker"), ecb.europa.eu ("Euro foreign exchange reference rates"). They were
 * not recorded: no request was sent to the sources.
 */

const kraken = (usd: string, eur: string) => {
  const pair = (price: string) => ({
    ...{ a: [price, '9000', '9000.000'], b: [price, '120', '120.000'], c: [price, '42.00000000'] },
    ...{ v: ['1000.0', '2000.0'], p: [price, price], t: [10, 20], l: [price, price], h: [price, price], o: price },
  });
  return JSON.stringify({ error: [], result: { USDTZUSD: pair(usd), USDTEUR: pair(eur) } });
};

const coinbase = (price: string, time: string) =>
  JSON.stringify({ trade_id: 86326522, price, size: '12.5', time, bid: price, ask: price, volume: '5957.11914015' });

const bitstamp = (last: string, timestamp: number) =>
  JSON.stringify({
    ...{ timestamp: String(timestamp), open: last, high: last, low: last, last, volume: '213.26801100', vwap: last },
    ...{ bid: last, ask: last, side: '0', open_24: last, percent_change_24: '0.01' },
  });

const ecb = (day: string) => `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time='${day}'>
			<Cube currency='USD' rate='1.1592'/>
			<Cube currency='JPY' rate='178.56'/>
			<Cube currency='BGN' rate='1.9558'/>
			<Cube currency='IDR' rate='18994.05'/></Cube>
	</Cube>
</gesmes:Envelope>`;

export const documented = { kraken, coinbase, bitstamp, ecb };

type Answer = string | ((response: ServerResponse) => void);

const wellBehaved: Record<string, Answer> = {
  '/kraken/0/public/Ticker': kraken('0.99980', '0.86120'),
  '/coinbase/products/USDT-USD/ticker': coinbase('0.99985', '2026-03-04T12:00:00.123456Z'),
  '/coinbase/products/USDT-EUR/ticker': coinbase('0.8613', '2026-03-04T11:59:00.000000Z'),
  '/bitstamp/api/v2/ticker/usdtusd/': bitstamp('0.99979', 1_772_625_600),
  '/bitstamp/api/v2/ticker/usdteur/': bitstamp('0.86110', 1_772_625_600),
  '/ecb/stats/eurofxref/eurofxref-daily.xml': ecb('2026-03-03'),
};

export const html = '<!doctype html><html><head><title>Just a moment...</title></head><body></body></html>';

/** A server that answers for all sources. `answers` may be changed, `asked` counts requests by path. */
export async function startRateServer(change: Record<string, Answer> = {}) {
  const answers = { ...wellBehaved, ...change };
  const asked: Record<string, number> = {};
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    asked[pathname] = (asked[pathname] ?? 0) + 1;
    const answer = answers[pathname];
    if (answer === undefined) response.writeHead(404).end('{}');
    else if (typeof answer === 'string') response.end(answer);
    else answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    answers,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
