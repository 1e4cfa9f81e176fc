import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RehearsedPayment } from '../../src/rehearse/events.ts';
import { REHEARSAL_KEYS } from '../../src/rehearse/rehearse.ts';

type Headers = IncomingMessage['headers'];
export type Event = { event_id: string; payment_id: string | null; status: string; expected_amount: string };

/** A receiver in steps, so that a test can do one of them wrongly. A step that refuses returns a status, or null to continue. */
export type Steps = {
  methods: readonly string[];
  /** Answered as a success. */
  isPing: (body: string) => boolean;
  maxBodyBytes: number;
  /** Runs before any check. */
  first: (event: Event, shop: Shop) => void;
  keyOf: (id: string) => string | undefined;
  timestampOf: (request: IncomingMessage) => string;
  isTimestamp: (text: string) => boolean;
  isRecent: (secondsOld: number) => boolean;
  signedBytes: (body: Buffer) => Buffer | string;
  isSame: (given: string, expected: string) => boolean;
  isOf: (event: Event, headers: Headers) => boolean;
  /** Handles a genuine event. @returns the status. */
  take: (event: Event, headers: Headers, shop: Shop) => Promise<number> | number;
  answer: (status: number) => number;
};

/** Replaces the database. */
export class Shop {
  readonly events = new Set<string>();
  readonly fulfilled: Record<string, number> = {};
  readonly closed = new Set<string>();
  inFlight = 0;
  readonly amounts: ReadonlyMap<string, string>;
  constructor(payments: readonly RehearsedPayment[]) {
    this.amounts = new Map(payments.map((payment) => [payment.payment_id, payment.expected_amount]));
  }
  fulfil({ payment_id: id }: Event): void {
    this.fulfilled[String(id)] = (this.fulfilled[String(id)] ?? 0) + 1;
  }
}

export const right: Steps = {
  methods: ['POST'],
  isPing: () => false,
  maxBodyBytes: 65_536,
  first: () => undefined,
  keyOf: (id) => REHEARSAL_KEYS.find((key) => key.id === id)?.key,
  timestampOf: ({ headers }) => String(headers['x-service-timestamp'] ?? ''),
  isTimestamp: (text) => /^[0-9]{1,12}$/.test(text),
  isRecent: (secondsOld) => Math.abs(secondsOld) <= 300,
  signedBytes: (body) => body,
  isSame: (given, expected) => given === expected,
  isOf: (event, headers) => event.event_id === headers['x-service-event-id'],
  take: (event, _headers, shop) => {
    if (event.status !== 'PAID' || shop.events.has(event.event_id)) return 204;
    shop.events.add(event.event_id);
    if (shop.amounts.get(String(event.payment_id)) !== event.expected_amount) return 204;
    if (shop.fulfilled[String(event.payment_id)] === undefined) shop.fulfil(event);
    return 204;
  },
  answer: (status) => status,
};

async function receive(steps: Steps, request: IncomingMessage, shop: Shop): Promise<number> {
  const body = await buffer(request);
  if (!steps.methods.includes(request.method ?? '')) return 405;
  if (body.length > steps.maxBodyBytes) return 413;
  if (steps.isPing(body.toString())) return 204;
  const { headers } = request;
  const header = (name: string): string => String(headers[name] ?? '');
  const parsed = (): Event => JSON.parse(body.toString('utf8')) as Event;
  steps.first(parsed(), shop);
  const key = steps.keyOf(header('x-service-key-id'));
  const timestamp = steps.timestampOf(request);
  if (key === undefined || !steps.isTimestamp(timestamp)) return 401;
  if (!steps.isRecent(Date.now() / 1_000 - Number(timestamp))) return 401;
  const signed = createHmac('sha256', key).update(`${header('x-service-timestamp').split(', ').at(-1)}.`);
  const expected = `v1=${signed.update(steps.signedBytes(body)).digest('hex')}`;
  if (!steps.isSame(header('x-service-signature'), expected)) return 401;
  return steps.isOf(parsed(), headers) ? steps.take(parsed(), headers, shop) : 400;
}

/** Waits by loop turns and not by time, so that simultaneous requests have arrived, on a machine of any speed. */
export async function whileOthersCome(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
}

/** Starts a receiver on a free port. A status of 0 is never answered, -1 stops the receiver. */
export async function startReceiver(changes: Partial<Steps>, payments: readonly RehearsedPayment[]) {
  const shop = new Shop(payments);
  const steps = { ...right, ...changes };
  const server = createServer((request, response) => {
    void receive(steps, request, shop)
      .catch(() => 400)
      .then(async (status) => {
        const answered = steps.answer(status);
        if (answered === -1) await stop(server);
        else if (answered > 0) response.writeHead(answered).end();
      });
  });
  return { ...(await listen(server)), shop };
}

export async function listen(server: Server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`;
  return { url, close: () => stop(server) };
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}
