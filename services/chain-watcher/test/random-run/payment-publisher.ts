import { randomUUID } from 'node:crypto';
import { parseAddress } from '@quittance/contracts/address.ts';
import { newId } from '@quittance/contracts/ids.ts';
import { PaymentClosed, PaymentCreated } from '@quittance/contracts/messages.ts';
import type { Neighbours } from '@quittance/testkit/neighbours.ts';
import { walletOf } from './chain-maker.ts';
import type { ChainHistory } from './chain-history.ts';
import type { MessageStep } from './plan.ts';

/** The time in which transfers to a wallet have to be known, in Unix seconds of their blocks, both ends included. */
export type Span = { wallet: string; from: number; until: number };

export type PaymentPublisher = {
  carryOut(step: MessageStep): Promise<void>;
  spans: readonly Span[];
  counts: Record<MessageStep['kind'], number> & { late: number; shortLived: number };
};

/** How long replicas watch a wallet after a payment's end: the shortest setting that they accept. */
export const GRACE_SECONDS = 3_600;
/** A block's timestamp may be this much earlier than the payment that it pays. */
const MARGIN_SECONDS = 150;
/** Longer than any run. */
const LONG_MS = 86_400_000;

/** Publishes messages about payments as payments would, in chain time. */
export function createPaymentPublisher(
  { publish }: Pick<Neighbours, 'publish'>,
  chronicle: ChainHistory,
  seed: number,
): PaymentPublisher {
  const spans: Span[] = [];
  const latest = new Map<number, PaymentCreated>();
  const published: { messageId: string; payment: PaymentCreated }[] = [];
  const counts = { created: 0, again: 0, closed: 0, late: 0, shortLived: 0 };
  const now = (): number => Number(chronicle.head().timestamp) * 1000 + (Date.now() % 1000);

  async function create(step: MessageStep & { kind: 'created' }): Promise<void> {
    const { createdMsAgo, endsAfterMs } = step;
    const wallet = walletOf(seed, step.wallet);
    const created = now() - createdMsAgo;
    const watchedUntil = now() + (endsAfterMs ?? LONG_MS);
    const payment: PaymentCreated = {
      ...{ payment_id: newId('pay'), merchant_id: newId('mer'), network: 'local', amount: '10.5' },
      recipient: parseAddress(wallet)!.address,
      created_at: new Date(created).toISOString(),
      expires_at: new Date(watchedUntil - GRACE_SECONDS * 1000).toISOString(),
    };
    const messageId = randomUUID();
    await publish(PaymentCreated, payment, messageId);
    published.push({ messageId, payment });
    latest.set(step.wallet, payment);
    spans.push({
      wallet,
      from: Math.floor(created / 1000) - MARGIN_SECONDS,
      until: Math.floor(watchedUntil / 1000) - 1,
    });
    if (createdMsAgo > 1_000) counts.late += 1;
    if (endsAfterMs !== null) counts.shortLived += 1;
  }

  return {
    spans,
    counts,
    async carryOut(step) {
      switch (step.kind) {
        case 'created':
          await create(step);
          break;
        case 'again': {
          const one = published[step.choice % published.length];
          if (one === undefined) return;
          await publish(PaymentCreated, one.payment, one.messageId);
          break;
        }
        case 'closed': {
          const payment = latest.get(step.wallet);
          if (payment === undefined) return;
          const { payment_id, merchant_id, network, recipient } = payment;
          const closed_at = new Date(now()).toISOString();
          await publish(PaymentClosed, { payment_id, merchant_id, network, recipient, status: 'EXPIRED', closed_at });
        }
      }
      counts[step.kind] += 1;
    },
  };
}
