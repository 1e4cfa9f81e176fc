import { setTimeout as delay } from 'node:timers/promises';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { createPayment, type Receiving } from './demo-merchant.ts';
import { payOnChain } from './pay.ts';
import { StackError } from './directory.ts';
import { until } from './until.ts';
import type { StackFile } from './stack-file.ts';

const payments = 5;
const lookMs = 10;
/** For one payment, and for each of several: the edge limits one address to five public status requests a second. */
const statusPollMs = { alone: 500, together: 1_000 };

type Say = (line: string) => void;

/** The network on which the demo makes payments. */
type DemoNetwork = {
  receiving: Receiving;
  /** How many blocks confirm a transfer, including its own. */
  confirmingBlocks: number;
};

/** The demo's first payment, finished, and the measured latencies. */
export type DemoResult = {
  first: {
    payment_id: string;
    payment_url: string;
    amount: string;
    merchant_wallet: string;
    transaction_id: string;
    transaction_event_index: number;
    event_id: string;
  };
  /** Milliseconds from the moment the confirming block is visible until the webhook is received, in ascending order. */
  latenciesMs: number[];
};

/**
 * Takes a few real payments from creation to webhook, first one and then several at once: created through the public API, paid on the
 * chain, watched until PAID, with the webhook received and its signature verified. Reports the first one step by step.
 * @throws StackError when a step does not happen within ten minutes.
 */
export async function runDemo(stack: StackFile, network: DemoNetwork, say: Say): Promise<DemoResult> {
  const heads = watchHeads(stack.chain.rpc_url);
  try {
    const first = await onePayment(stack, network, heads, { say, pollMs: statusPollMs.alone });
    const silently: Telling = { say: () => undefined, pollMs: statusPollMs.together };
    const others = Array.from({ length: payments - 1 }, () => onePayment(stack, network, heads, silently));
    const all = [first, ...(await Promise.all(others))];
    return { first: first.payment, latenciesMs: all.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b) };
  } finally {
    heads.stop();
  }
}

/** Receives the steps of a payment, and sets how often the status is polled. */
type Telling = { say: Say; pollMs: number };

async function onePayment(stack: StackFile, network: DemoNetwork, heads: Heads, telling: Telling) {
  const { say } = telling;
  const amount = demoAmount(network.receiving, { from: 5, to: 95 });
  const asked = { amount, description: 'Demo: one cup of coffee', ...network.receiving };
  const payment = await createPayment(stack.edge_url, stack.merchant, asked);
  say(`created    ${payment.payment_id} over ${amount} USDT`);
  say(`checkout   ${payment.payment_url}`);
  const transfer = await payOnChain(stack.chain, payment.merchant_wallet, amount);
  say(`paid       transaction ${transfer.transactionHash} in block ${transfer.blockNumber}`);
  await statusReaches(stack, payment.payment_url, 'PAID', telling);
  const event = await webhookOf(stack, payment.payment_id);
  if (!event.verified) throw new StackError(`The webhook of ${payment.payment_id} came with a wrong signature.`);
  say(`webhook    ${event.body.event_id} received, signature verified`);
  const confirmedBlock = transfer.blockNumber + network.confirmingBlocks - 1;
  const { transaction_id, transaction_event_index, event_id } = event.body;
  return {
    payment: {
      ...payment,
      amount,
      transaction_id,
      transaction_event_index,
      event_id,
    },
    latencyMs: Date.parse(event.received_at) - heads.visibleAt(confirmedBlock),
  };
}

/** A price in cents; on a wallet that payments share, an amount that no other payment has. */
export const demoAmount = (receiving: Receiving, { from, to }: { from: number; to: number }): string =>
  (from + Math.random() * (to - from)).toFixed('wallet_pool' in receiving ? 2 : 6);

async function statusReaches(
  stack: StackFile,
  paymentUrl: string,
  wanted: string,
  { say, pollMs }: Telling,
): Promise<void> {
  const token = paymentUrl.slice(paymentUrl.lastIndexOf('/') + 1);
  let last = '';
  const look = async () => {
    const answer = await fetch(`${stack.edge_url}/api/v1/payments/${token}`);
    const { status } = (await answer.json()) as { status?: string };
    if (status !== undefined && status !== last) say(`status     ${status}`);
    last = status ?? last;
    return last === wanted ? true : null;
  };
  await until(`${paymentUrl} to become ${wanted}`, look, { everyMs: pollMs });
}

type ReceivedEvent = { received_at: string; body: WebhookEvent; verified: boolean };

function webhookOf(stack: StackFile, paymentId: string): Promise<ReceivedEvent> {
  const look = async () => {
    const answer = await fetch(stack.receiver.events_url);
    const { events } = (await answer.json()) as { events: ReceivedEvent[] };
    return events.find(({ body }) => body.payment_id === paymentId) ?? null;
  };
  return until(`the webhook of ${paymentId}`, look, { everyMs: lookMs });
}

type Heads = {
  /** When this block or a later one was first seen; now if none was. */
  visibleAt(block: number): number;
  stop(): void;
};

/** Records when each block becomes visible to a client of the chain. */
function watchHeads(rpcUrl: string): Heads {
  const seen = new Map<number, number>();
  const stopping = new AbortController();
  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const head = Number(await rpc<string>(rpcUrl, 'eth_blockNumber'));
      if (!seen.has(head)) seen.set(head, Date.now());
      await delay(lookMs);
    }
  };
  watch().catch(() => stopping.abort());
  return {
    visibleAt: (block) => Math.min(Date.now(), ...[...seen].filter(([height]) => height >= block).map(([, at]) => at)),
    stop: () => stopping.abort(),
  };
}
