import { createHash, createHmac } from 'node:crypto';
import type { Socket } from 'node:net';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import type { Answer, Received, Receiver } from '../receiver.ts';

/** A request at a receiver, and how it ended. */
export type Visit = Received & {
  event: WebhookEvent;
  /** Unix milliseconds. */
  at: number;
  /** The number of the request about this event, from 1. */
  nth: number;
  /** The status, if one was sent. */
  answered: number | null;
  /** False after its answer, or its connection, has ended. */
  open: boolean;
};

/** Decides how a receiver treats a request. */
export type Manner = (visit: Visit) => Answer;

export type VisitorsBook = {
  /** In the order of arrival. */
  all: readonly Visit[];
  of(host: string): Visit[];
  /** How often each event was answered 2xx. */
  acceptances(): Map<string, number>;
  /** From now on the host treats requests with this manner. */
  treat(host: string, manner: Manner): void;
  /** Every key that was shown to merchants. */
  keys: Map<string, string>;
};

/** Records all requests at receivers, as receivers are told to do. */
export function openVisitorsBook(receiver: Receiver): VisitorsBook {
  const all: Visit[] = [];
  const timesSeen = new Map<string, number>();
  return {
    all,
    keys: new Map(),
    of: (host) => all.filter((visit) => visit.host === host),
    acceptances: () => {
      const accepted = all.filter(({ answered }) => answered !== null && answered < 300);
      return new Map([...Map.groupBy(accepted, eventIdOf)].map(([eventId, visits]) => [eventId, visits.length]));
    },
    treat: (host, manner) =>
      receiver.answer(host, (response, request, received) => {
        const event = JSON.parse(received.body.toString()) as WebhookEvent;
        const nth = (timesSeen.get(event.event_id) ?? 0) + 1;
        timesSeen.set(event.event_id, nth);
        const visit: Visit = { ...received, event, nth, at: Date.now(), answered: null, open: true };
        all.push(visit);
        response.once('finish', () => (visit.answered = response.statusCode));
        response.once('close', () => (visit.open = false));
        manner(visit)(response, request, received);
      }),
  };
}

export const eventIdOf = ({ event }: Pick<Visit, 'event'>): string => event.event_id;

/** The request was read, and perhaps handled, but its sender gets no answer. */
export const reset: Answer = (_response, request) => {
  // A TLS socket can only be closed. Its underlying socket can be reset, but has no public name.
  (request.socket as unknown as { _parent: Socket })._parent.resetAndDestroy();
};

/** A receiver that holds requests until some or all are released. */
export function createGate(): { hold: Answer; letGo(answer: Answer, count?: number): void; held(): number } {
  const waiting = new Set<() => Parameters<Answer>>();
  return {
    hold(...request) {
      const give = (): Parameters<Answer> => request;
      waiting.add(give);
      request[0].once('close', () => waiting.delete(give));
    },
    letGo(answer, count = waiting.size) {
      for (const give of [...waiting].slice(0, count)) {
        waiting.delete(give);
        answer(...give());
      }
    },
    held: () => waiting.size,
  };
}

/** A number from 0 up to, but not including, 1 that is always the same for the same words. */
export function shareOf(...words: readonly (string | number)[]): number {
  return createHash('sha256').update(words.join(' ')).digest().readUInt32LE() / 2 ** 32;
}

/**
 * What the contract tells receivers to refuse, and what must be equal in all requests about one event.
 * @returns a line for each invalid request.
 */
export function findForgeries({ all, keys }: VisitorsBook): string[] {
  const bodies = new Map<string, Buffer>();
  return all.flatMap((visit) => {
    const first = bodies.get(visit.event.event_id) ?? visit.body;
    bodies.set(visit.event.event_id, first);
    const problem = first.equals(visit.body) ? problemOf(visit, keys) : 'another body than before';
    return problem === null ? [] : [`${visit.host} got ${visit.event.event_id} with ${problem}`];
  });
}

const MAX_AGE_SECONDS = 300;

function problemOf({ headers, body, event, at }: Visit, keys: ReadonlyMap<string, string>): string | null {
  const timestamp = String(headers['x-service-timestamp']);
  const key = keys.get(String(headers['x-service-key-id']));
  if (key === undefined) return `a key that nobody was shown: ${String(headers['x-service-key-id'])}`;
  const signature = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex');
  if (headers['x-service-signature'] !== `v1=${signature}`) return 'a signature that is not right';
  if (!/^\d{1,12}$/.test(timestamp)) return `the timestamp "${timestamp}"`;
  if (Math.abs(at / 1000 - Number(timestamp)) > MAX_AGE_SECONDS) return `a timestamp of ${timestamp} at ${at}`;
  return headers['x-service-event-id'] === event.event_id ? null : 'another id in its header';
}
