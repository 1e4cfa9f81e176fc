import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { fetchReceiver, nodeReceiver, type ReceiverOptions } from '../../src/index.ts';
import { rehearse, REHEARSAL_KEYS } from '../../src/rehearse/rehearse.ts';
import { listen } from './receiver.ts';

let close: () => Promise<void> = async () => undefined;
afterEach(() => close());

/** A shop's handling of events, in memory. */
function shop() {
  const fulfilled: Record<string, number> = {};
  const options: ReceiverOptions = {
    keys: Object.fromEntries(REHEARSAL_KEYS.map(({ id, key }) => [id, key])),
    onEvent: (event) => {
      if (event.status === 'PAID') fulfilled[event.payment_id] ??= 1;
    },
  };
  return { fulfilled, options };
}

const receivers: [string, (options: ReceiverOptions) => Parameters<typeof createServer>[1]][] = [
  ['nodeReceiver in Express', (options) => express().all('/webhook', nodeReceiver(options))],
  [
    'nodeReceiver alone',
    (options) => {
      const receive = nodeReceiver(options);
      return (request, response) => void receive(request, response);
    },
  ],
  [
    'fetchReceiver',
    (options) => {
      const receive = fetchReceiver(options);
      const answer = async (request: IncomingMessage): Promise<Response> => {
        const { method = '', url, headersDistinct } = request;
        const headers = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
          values.map((value): [string, string] => [name, value]),
        );
        const body = method === 'GET' ? null : new Uint8Array(await buffer(request));
        return receive(new Request(`http://127.0.0.1${url}`, { method, headers, body }));
      };
      return (request, response) => {
        void answer(request).then(({ status }) => response.writeHead(status).end());
      };
    },
  ],
];

test.each(receivers)('%s passes the rehearsal', async (_name, listener) => {
  const { fulfilled, options } = shop();
  const started = await listen(createServer(listener(options)));
  close = started.close;
  const effects = async () => fulfilled;
  const { checks } = await rehearse({ url: started.url, keys: REHEARSAL_KEYS, effects, timeoutMs: 60_000 });
  // The shop cannot know the price of invented payments.
  expect(checks.filter(({ result }) => result !== 'ok')).toMatchObject([{ id: 'amount', result: 'unseen' }]);
});
