import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { machineMs } from './machine-clock.ts';
import { serve } from './orders.ts';
import type { Answering, Received, ReceiverOrder } from './webhook-receiver.ts';

/**
 * Merchants who believe everything: no signature is looked at, because what a receiver does is no part of what is measured. One
 * certificate is good for all hosts, so a handshake costs it no look-up.
 */

const ANSWER = Buffer.from('ok');
const HEADERS = { 'content-length': ANSWER.length };
const LOOK_EVERY_MS = 2;

const answering = new Map<string, Answering>();
/** Of hosts that never answer: they do, when their host is told to. */
const heldBack = new Map<string, ServerResponse[]>();
let arrivals = new Map<string, number>();
let received = nothing(0);
let server: Server | null = null;

serve<ReceiverOrder, Received>(async (order) => {
  switch (order.kind) {
    case 'open':
      received = nothing(await open(order));
      return received;
    case 'forget':
      arrivals = new Map();
      received = nothing(received.port);
      return received;
    case 'answer':
      answering.set(order.host, order.how);
      if (order.how !== 'never') letGo(order.host);
      return received;
    case 'arrivals':
      return { ...received, arrivals };
    case 'until':
      return until(order);
  }
});

function nothing(port: number): Received {
  const never = Number.NaN;
  return { port, events: 0, repeated: 0, firstAt: never, lastAt: never, handshakes: 0, arrivals: null };
}

async function until({ events, patienceMs }: Extract<ReceiverOrder, { kind: 'until' }>): Promise<Received> {
  const deadline = machineMs() + patienceMs;
  while (arrivals.size < events) {
    if (machineMs() > deadline) throw new Error(`${arrivals.size} of ${events} events came in ${patienceMs / 1000} s`);
    await delay(LOOK_EVERY_MS);
  }
  return received;
}

function open({ cert, key }: Extract<ReceiverOrder, { kind: 'open' }>): Promise<number> {
  const opened = createServer({ cert, key, minVersion: 'TLSv1.2', keepAliveTimeout: 120_000 }, take);
  opened.on('secureConnection', () => (received.handshakes += 1));
  opened.on('tlsClientError', () => undefined);
  server = opened;
  return new Promise((resolve) => {
    // Connections are opened hundreds at a time, and none of them may be refused.
    opened.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
      resolve((opened.address() as AddressInfo).port);
    });
  });
}

/** An event has come when its headers are there: its sender has sent it, however long the answer takes. */
function take(request: IncomingMessage, response: ServerResponse): void {
  note(String(request.headers['x-service-event-id']));
  request.resume();
  const host = request.headers.host ?? '';
  const how = answering.get(host) ?? 0;
  if (how === 0) answer(response);
  else if (how !== 'never') setTimeout(() => answer(response), how);
  else heldBack.set(host, [...(heldBack.get(host) ?? []), response]);
}

function answer(response: ServerResponse): void {
  response.writeHead(200, HEADERS).end(ANSWER);
}

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
  received.lastAt = at;
  arrivals.set(eventId, at);
  received.events = arrivals.size;
}

process.on('disconnect', () => server?.closeAllConnections());
