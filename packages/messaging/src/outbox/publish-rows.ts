import type { Pool } from '@quittance/postgres/pool.ts';
import { createMicroBatcher } from '@quittance/runtime/concurrency/micro-batch.ts';
import { faultPoint } from '@quittance/runtime/fault-point.ts';
import type { Logger } from '@quittance/runtime/logger.ts';
import type { Signer } from '@quittance/runtime/trust.ts';
import type { Outgoing, Publisher } from '../broker/publisher.ts';
import { SIGNATURE_HEADER, signMessages } from '../broker/signature.ts';
import { EXCHANGE } from '../broker/topology.ts';
import { type SendSpan, startSendSpan } from '../spans.ts';
import { moveToSent, type OutboxRow, pauseMessages } from './store.ts';

/** The maximum number of batches that one statement moves to the sent messages. */
const MOVED_TOGETHER = 4;

/**
 * Publishes batches of rows that this relay holds, awaits their confirms, and moves confirmed rows to the sent messages. No transaction is
 * open while RabbitMQ is called. Rows are signed here and not when they are written, so that every row, even one of an earlier release or
 * an earlier key, has a current signature. A crash between the last two steps publishes a message twice, and the receiver's inbox ignores
 * the copy. Messages of a name usually leave in the order in which they were written, but this is not guaranteed.
 */
export function createRowPublisher({
  pool,
  logger,
  relayId,
  signer,
}: {
  pool: Pool;
  logger: Logger;
  relayId: string;
  signer: Signer | null;
}) {
  // One statement at a time, which moves everything confirmed in the meantime: a name needs no second connection for it.
  const move = createMicroBatcher<readonly string[], null>({
    maxSize: MOVED_TOGETHER,
    run: async (batches) => {
      await moveToSent(pool, batches.flat());
      return batches.map(() => null);
    },
  });

  return async (publisher: Publisher, rows: readonly OutboxRow[]): Promise<void> => {
    const spans = rows.map(startSendSpan);
    const signatures = signaturesOf(signer, rows);
    const outgoing = rows.map((row, index) => toOutgoing(row, spans[index], signatures?.[index]));
    const outcomes = await publisher.publish(outgoing);
    faultPoint('outbox-published');
    spans.forEach((span, index) => span?.end(outcomes[index]));
    const idsOf = (isConfirmed: boolean): string[] =>
      rows.filter((_, index) => (outcomes[index] === 'confirmed') === isConfirmed).map((row) => row.message_id);
    const [confirmed, unconfirmed] = [idsOf(true), idsOf(false)];
    if (confirmed.length > 0) await move(confirmed);
    if (unconfirmed.length === 0) return;
    logger.warn(
      { message: rows[0]?.name, unconfirmed: unconfirmed.length, message_id: unconfirmed[0] },
      'RabbitMQ did not confirm every message; unconfirmed ones are retried after a pause',
    );
    await pauseMessages(pool, relayId, unconfirmed);
  };
}

/** @returns null without a key to sign with. */
function signaturesOf(signer: Signer | null, rows: readonly OutboxRow[]): string[] | null {
  if (signer === null) return null;
  return signMessages(
    signer,
    rows.map(({ name, version, message_id: messageId, body }) => ({
      name,
      version,
      messageId,
      body: Buffer.from(body),
    })),
  );
}

function toOutgoing(row: OutboxRow, span: SendSpan | undefined, signature: string | undefined): Outgoing {
  const traceparent = span?.traceparent ?? row.traceparent;
  return {
    exchange: EXCHANGE,
    routingKey: row.name,
    body: Buffer.from(row.body),
    properties: {
      messageId: row.message_id,
      correlationId: row.request_id,
      type: row.name,
      headers: {
        version: row.version,
        merchant_id: row.merchant_id,
        ...(traceparent !== null && { traceparent }),
        ...(signature !== undefined && { [SIGNATURE_HEADER]: signature }),
      },
      contentType: 'application/json',
      // AMQP uses seconds.
      timestamp: Math.floor(row.created_at.getTime() / 1000),
      persistent: true,
      // The topology gives every message a queue. If it was deleted, the message is returned instead of dropped, stays in
      // the outbox, and the publisher declares the queue again.
      mandatory: true,
    },
  };
}
