import type { TestBroker } from '@quittance/testkit/broker.ts';

/** One delivery, as received. */
export type ReceivedMessage = { messageId: string; body: string; message: Observed };

/** The fields of TransferObserved that are used. */
export type Observed = {
  network: string;
  transaction_id: string;
  transaction_event_index: number;
  block_number: number;
  block_hash: string;
  block_timestamp: string;
  from: string;
  to: string;
  amount_units: string;
  phase: 'seen' | 'confirmed' | 'retracted';
  version: number;
  confirmations: number;
  confirmations_required: number;
  first_seen_at: string;
  live: boolean;
};

export type TransferQueue = {
  /** Everything received so far, including repetitions, in the order of the queue. */
  received: readonly ReceivedMessage[];
  /** Receives the waiting messages. @returns how many. */
  drain(): Promise<number>;
};

const QUEUE = 'random-run.transfers';
const EXCHANGE = 'quittance';
const AT_ONCE = 5_000;

/** A separate queue that is read without an inbox, so that repetitions are received, too. */
export async function createTransferQueue({ vhost, manage }: TestBroker): Promise<TransferQueue> {
  const received: ReceivedMessage[] = [];
  await manage('PUT', `/api/exchanges/${vhost}/${EXCHANGE}`, { type: 'topic', durable: true });
  await manage('PUT', `/api/queues/${vhost}/${QUEUE}`, { durable: true });
  await manage('POST', `/api/bindings/${vhost}/e/${EXCHANGE}/q/${QUEUE}`, { routing_key: 'TransferObserved' });
  return {
    received,
    async drain() {
      const deliveries = (await manage('POST', `/api/queues/${vhost}/${QUEUE}/get`, {
        ...{ count: AT_ONCE, ackmode: 'ack_requeue_false', encoding: 'auto' },
      })) as { payload: string; properties: { message_id: string } }[];
      for (const { payload, properties } of deliveries) {
        received.push({ messageId: properties.message_id, body: payload, message: JSON.parse(payload) as Observed });
      }
      return deliveries.length;
    },
  };
}
