import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { machineMs } from './machine-clock.ts';
import { serve } from './forked.ts';

/**
 * Merchants who accept everything: no signature is checked, because what a receiver does is not measured. One certificate is valid
 * for all hosts, so a handshake needs no look-up.
 */

/** How a host answers: never, or after this many milliseconds. */
type Answering = 'never' | number;

const ANSWER = Buffer.from('ok');
const HEADERS = { 'content-length': ANSWER.length };
const LOOK_EVERY_MS = 2;
const PATIENCE_MS = 600_000;

const answering = new Map<string, Answering>();
/** Of hosts that never answer, until their host is told to answer. */
const heldBack = new Map<string, ServerResponse[]>();
/** When each event came first (`machineMs`), since the last `forget`. */
let arrivals = new Map<string, number>();
/** `repeated`: POSTs of events that had come before. `firstAt`: when the first event came. `handshakes`: of TLS. */
let received = { repeated: 0, firstAt: Number.NaN, handshakes: 0 };
/** When each event was answered first (`machineMs`), and how often one was answered that had been answered before. */
let answered = { first: new Map<string, number>(), repeated: 0 };
let server: Server | null = null;

const handlers = serve({
  open,
  forget() {
    arrivals = new Map();
    received = { repeated: 0, firstAt: Number.NaN, handshakes: 0 };
    answered = { first: new Map(), repeated: 0 };
  },
  /** Waits for this many different events. @throws Error saying how many there are, when they don't come in time. */
  async until(events: number) {
    const deadline = machineMs() + PATIENCE_MS;
    while (arrivals.size < events) {
      if (machineMs() > deadline) throw new Error(`${arrivals.size} of ${events} events came`);
      await delay(LOOK_EVERY_MS);
    }
    return received;
  },
  answer(host: string, how: Answering) {
    answering.set(host, how);
    if (how !== 'never') letGo(host);
  },
  arrivals: () => arrivals,
  answered: () => answered,
});
export type ReceiverProcess = typeof handlers;

/** @returns the port. */
function open({ cert, key }: { cert: string; key: string }): Promise<number> {
  const opened = createServer({ cert, key, minVersion: 'TLSv1.2', keepAliveTimeout: 120_000 }, take);
  opened.on('secureConnection', () => (received.handshakes += 1));
  opened.on('tlsClientError', () => undefined);
  server = opened;
  return new Promise((resolve) => {
    // Hundreds of connections are opened at a time, and none may be refused.
    opened.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
      resolve((opened.address() as AddressInfo).port);
    });
  });
}

/** An event has arrived when its headers are there, however long the answer takes. */
function take(request: IncomingMessage, response: ServerResponse): void {
  note(eventOf(request));
  request.resume();
  const host = request.headers.host ?? '';
  const how = answering.get(host) ?? 0;
  if (how === 0) answer(response);
  else if (how !== 'never') setTimeout(() => answer(response), how);
  else heldBack.set(host, [...(heldBack.get(host) ?? []), response]);
}

/** A sender that was killed meanwhile never learns that its event was taken, and must send it again. */
function answer(response: ServerResponse): void {
  if (response.destroyed || response.socket?.writable !== true) return;
  response.writeHead(200, HEADERS).end(ANSWER);
  const eventId = eventOf(response.req);
  if (answered.first.has(eventId)) answered.repeated += 1;
  else answered.first.set(eventId, machineMs());
}

const eventOf = ({ headers }: IncomingMessage): string => String(headers['x-service-event-id']);

function letGo(host: string): void {
  for (const response of heldBack.get(host) ?? []) answer(response);
  heldBack.delete(host);
}

function note(eventId: string): void {
  if (arrivals.has(eventId)) {
    received.repeated += 1;
    return;
  }
  const at = machineMs();
  if (arrivals.size === 0) received.firstAt = at;
  arrivals.set(eventId, at);
}

process.on('disconnect', () => server?.closeAllConnections());
