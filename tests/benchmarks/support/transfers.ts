import { randomBytes, randomUUID } from 'node:crypto';
import { parseAmount } from '@quittance/contracts/amount.ts';
import { TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker, type Broker } from '@quittance/messaging/broker/broker.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';

export type PayablePayment = {
  payment_id: string;
  merchant_id: string;
  recipient: string;
  amount: string;
  network: string;
};

const connect = (amqpUrl: string): Broker =>
  connectBroker({ url: amqpUrl, name: 'benchmark', logger: testLogger, metrics: testMetrics });

/** A broker to publish to, as chain-watcher does. */
export async function connectPublisher(amqpUrl: string): Promise<Broker> {
  const broker = connect(amqpUrl);
  await eventually(() => {
    if (!broker.canPublish()) throw new Error('RabbitMQ is not reached yet');
  });
  return broker;
}

/** A transfer that pays the payment, in a block of the present second. */
export function transferFor(
  payment: Omit<PayablePayment, 'payment_id'>,
): Omit<TransferObserved, 'phase' | 'version' | 'confirmations'> {
  return {
    merchant_id: payment.merchant_id,
    network: payment.network,
    transaction_id: randomBytes(32).toString('hex'),
    transaction_event_index: 3,
    block_number: 1_000_000,
    block_hash: `0x${randomBytes(32).toString('hex')}`,
    block_timestamp: new Date().toISOString(),
    from: '0x00000000000000000000000000000000000000aA',
    to: payment.recipient,
    amount_units: String(parseAmount(payment.amount)),
    decimals: 6,
    confirmations_required: 2,
  };
}

/** @throws Error when RabbitMQ does not confirm every message. */
export async function publishTransfers(broker: Broker, messages: readonly TransferObserved[]): Promise<void> {
  const outcomes = await broker.publish(
    messages.map((message) => ({
      exchange: EXCHANGE,
      routingKey: TransferObserved.name,
      body: Buffer.from(JSON.stringify(TransferObserved.parse(message))),
      properties: {
        messageId: randomUUID(),
        correlationId: randomUUID(),
        type: TransferObserved.name,
        headers: { version: TransferObserved.version, merchant_id: message.merchant_id },
        contentType: 'application/json',
        persistent: true,
        mandatory: true,
      },
    })),
  );
  if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('RabbitMQ did not take every message');
}

const QUEUE = 'payments.transfer-observed';
const PATIENCE_MS = 120_000;

/**
 * Consumes transfers in place of payments.
 * @param onTransfer gets each observation of a transfer, and when its message came, in milliseconds since 1970.
 */
export async function consumeTransfers(
  amqpUrl: string,
  onTransfer: (transfer: TransferObserved, at: number) => void,
): Promise<Broker> {
  const broker = connect(amqpUrl);
  const connection = await broker.consuming.connected(AbortSignal.timeout(PATIENCE_MS));
  const channel = await connection.createChannel();
  await channel.consume(
    QUEUE,
    (delivery) => {
      if (delivery === null) return;
      const at = performance.timeOrigin + performance.now();
      onTransfer(TransferObserved.parse(JSON.parse(delivery.content.toString())), at);
    },
    { noAck: true },
  );
  return broker;
}
