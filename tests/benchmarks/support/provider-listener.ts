import { addressFromHex } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentCreated, TransferObserved } from '@quittance/contracts/messages.ts';
import { connectBroker } from '@quittance/messaging/broker/broker.ts';
import { newMessageId } from '@quittance/messaging/broker/amqp-message.ts';
import { EXCHANGE } from '@quittance/messaging/broker/topology.ts';
import { testLogger, testMetrics } from '@quittance/testkit/logger.ts';
import { PAYEE } from './provider-chain.ts';
import type { ProviderNetwork } from './provider-networks.ts';
import { walletAddress } from './synthetic-wallets.ts';

/** The first message about a block: its network and height, and when it came, in milliseconds since 1970. */
type Arrival = { network: string; block: number; at: number };

export type Listener = {
  arrivals: readonly Arrival[];
  /** Has a payment wait on the network for half an hour. */
  createPayment(network: ProviderNetwork): Promise<void>;
  close(): Promise<void>;
};

const QUEUE = 'payments.transfer-observed';
const PATIENCE_MS = 120_000;
const PAYMENT_MS = 30 * 60_000;

/** Stands where payments stands. */
export async function startListener(amqpUrl: string): Promise<Listener> {
  const broker = connectBroker({ url: amqpUrl, name: 'benchmark', logger: testLogger, metrics: testMetrics });
  const connection = await broker.consuming.connected(AbortSignal.timeout(PATIENCE_MS));
  const channel = await connection.createChannel();
  const arrivals: Arrival[] = [];
  const onDelivery = (content: Buffer): void => {
    const at = performance.timeOrigin + performance.now();
    const { phase, network, block_number: block } = TransferObserved.parse(JSON.parse(content.toString()));
    if (phase === 'seen') arrivals.push({ network, block, at });
  };
  await channel.consume(QUEUE, (delivery) => delivery && onDelivery(delivery.content), { noAck: true });
  return {
    arrivals,
    async createPayment({ entry }) {
      const merchant = newId('mer');
      const payment: PaymentCreated = {
        ...{ payment_id: newId('pay'), merchant_id: merchant, network: entry.id, amount: '10.5' },
        recipient: addressFromHex(entry.family, walletAddress(PAYEE)),
        created_at: new Date().toISOString(),
        expires_at: new Date(Date.now() + PAYMENT_MS).toISOString(),
      };
      const { name, version } = PaymentCreated;
      const headers = { version, merchant_id: merchant };
      const properties = { messageId: newMessageId(), type: name, headers, contentType: 'application/json' };
      const body = Buffer.from(JSON.stringify(payment));
      const [outcome] = await broker.publish([{ exchange: EXCHANGE, routingKey: name, body, properties }]);
      if (outcome !== 'confirmed') throw new Error(`the payment's message was not sent: ${outcome ?? ''}`);
    },
    async close() {
      await channel.close();
      await broker.close();
    },
  };
}
