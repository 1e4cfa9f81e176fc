import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What one USDT costs here, and how much of other currencies one euro costs: near the real ones, but made up and always the same. */
const token: Record<string, string> = { usd: '0.9998', eur: '0.8620' };
const bank = {
  ...{ USD: '1.1600', JPY: '178.50', CZK: '24.300', DKK: '7.4650', GBP: '0.8600', HUF: '385.00', PLN: '4.2400' },
  ...{ RON: '5.0800', SEK: '10.950', CHF: '0.9330', ISK: '147.00', NOK: '11.700', TRY: '48.900', AUD: '1.7700' },
  ...{ BRL: '6.2900', CAD: '1.6200', CNY: '8.2500', HKD: '9.0200', IDR: '19350.00', ILS: '3.8100', INR: '103.20' },
  ...{ KRW: '1690.0', MXN: '21.400', MYR: '4.8600', NZD: '2.0300', PHP: '68.100', SGD: '1.5100', THB: '37.600' },
  ...{ ZAR: '20.000' },
};

/** Answers by path, in the shape that each source documents. */
function answerTo(path: string): string | null {
  const leg = /^\/bitstamp\/api\/v2\/ticker\/usdt(usd|eur)\/$/.exec(path)?.[1];
  if (leg !== undefined)
    return JSON.stringify({ last: token[leg], timestamp: String(Math.floor(Date.now() / 1_000)), pair: `USDT/${leg}` });
  if (path === '/kraken/0/public/Ticker')
    return JSON.stringify({
      error: [],
      result: { USDTZUSD: { c: [token['usd'], '1'] }, USDTEUR: { c: [token['eur'], '1'] } },
    });
  return path === '/ecb/stats/eurofxref/eurofxref-daily.xml' ? bankFile() : null;
}

function bankFile(): string {
  const rates = Object.entries(bank).map(([currency, rate]) => `<Cube currency='${currency}' rate='${rate}'/>`);
  const day = new Date().toISOString().slice(0, 10);
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
  <Cube><Cube time='${day}'>${rates.join('\n    ')}</Cube></Cube>
</gesmes:Envelope>`;
}

/** The local stack's own sources of exchange rates: two exchanges and the bank, without traffic to the internet. */
export async function startRateSources(port: number): Promise<{ setting: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = answerTo(new URL(request.url ?? '/', 'http://localhost').pathname);
    response.writeHead(answer === null ? 404 : 200).end(answer ?? '');
  });
  await listening(server, port);
  const { port: actual } = server.address() as AddressInfo;
  const address = (name: string) => `${name}=http://127.0.0.1:${actual}/${name}`;
  return {
    setting: ['kraken', 'bitstamp', 'ecb'].map(address).join(','),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const listening = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
