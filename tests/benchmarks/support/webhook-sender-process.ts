import { setTimeout as delay } from 'node:timers/promises';
import { newId } from '@quittance/contracts/ids.ts';
import { serve, type Forked } from './forked.ts';
import { IN_FLIGHT, openJobQueue, type Job, type QueueKind, type Work } from './job-queues.ts';
import { machineMs } from './machine-clock.ts';
import { bodyOf, type WebhookMerchant } from './webhook-merchants.ts';
import { createPost } from './webhook-post.ts';

/** `raw` sends what it has in memory and keeps no record. The others keep their jobs, as we keep deliveries. */
export type SenderKind = 'raw' | QueueKind;

type Sender = {
  add(jobs: Job[]): Promise<void>;
  send(): Promise<void>;
  /** @returns when nothing was left. */
  finish(): Promise<number>;
};

const LOOK_EVERY_MS = 5;
/** Jobs that are added by one call. */
const JOBS_AT_ONCE = 2_000;

let sender: Sender | null = null;
let merchants = 0;

const opened = (): Sender => {
  if (sender === null) throw new Error('nothing is open');
  return sender;
};

const handlers = serve({
  /** @param order.address of an empty database, which `raw` does not use. */
  async open(order: {
    kind: SenderKind;
    merchants: readonly WebhookMerchant[];
    address: string;
    receiver: { port: number; authorityFile: string };
  }) {
    const { kind, address } = order;
    const post = createPost(order.receiver);
    const work: Work = ({ merchant, eventId, body }) => post(order.merchants[merchant]!, eventId, body);
    merchants = order.merchants.length;
    sender = kind === 'raw' ? raw(work) : await queued(kind, address, work);
  },
  /** Adds events, the merchants taking turns; nothing is sent yet. */
  async add(events: number) {
    const jobs = Array.from({ length: events }, (_, number) => job(number % merchants));
    for (let from = 0; from < jobs.length; from += JOBS_AT_ONCE)
      await opened().add(jobs.slice(from, from + JOBS_AT_ONCE));
  },
  /** Starts sending what was added. */
  send: () => opened().send(),
  /** Answers when nothing is left, also on record, with the time of that (`machineMs`). */
  finish: () => opened().finish(),
});
export type WebhookSender = Forked<typeof handlers>;

function job(merchant: number): Job {
  const eventId = newId('evt');
  return { merchant, eventId, body: bodyOf(eventId, newId('pay')) };
}

function raw(work: Work): Sender {
  const waiting: Job[] = [];
  let sent: Promise<unknown> = Promise.resolve();
  async function sendOneAfterAnother(): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await work(next);
  }
  return {
    add: async (jobs) => void waiting.push(...jobs),
    async send() {
      sent = Promise.all(Array.from({ length: IN_FLIGHT }, sendOneAfterAnother));
    },
    async finish() {
      await sent;
      return machineMs();
    },
  };
}

/** Nothing may fail while rates are measured, so an error of the queue ends the process. */
async function queued(kind: QueueKind, address: string, work: Work): Promise<Sender> {
  const queue = await openJobQueue[kind](address, (error) => {
    throw error;
  });
  return {
    add: queue.add,
    async send() {
      await queue.start(work, 'fastest');
    },
    async finish() {
      while ((await queue.left(1)) > 0) await delay(LOOK_EVERY_MS);
      const at = machineMs();
      await queue.stop();
      return at;
    },
  };
}
