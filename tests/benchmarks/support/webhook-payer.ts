import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';

/** Payments a second, evenly, and for how long; the merchants take turns. */
export type Paying = { aSecond: number; durationMs: number };

export type PayerOrder =
  | { kind: 'open'; databaseUrl: string; amqpUrl: string; merchantIds: readonly string[] }
  | ({ kind: 'pay' } & Paying);

/** `committedAt`: when payments knew of each commit (`machineMs`), in the order of `paymentIds`. */
export type Paid = { paymentIds: string[]; committedAt: number[]; seconds: number };

/** Payments as far as webhooks go: each payment becomes PAID in a transaction of its own, which tells of it. */
export type WebhookPayer = {
  pid: number;
  /** Answers once the last one is committed. */
  pay(how: Paying): Promise<Paid>;
  close(): Promise<void>;
};

/** @param options.databaseUrl with payments' migrations and no other relay at its outbox. */
export async function startWebhookPayer(
  options: Omit<Extract<PayerOrder, { kind: 'open' }>, 'kind'>,
): Promise<WebhookPayer> {
  const child = fork(fileURLToPath(new URL('webhook-payer-process.ts', import.meta.url)), {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const { ask, close } = orders<PayerOrder, Paid>(child, 'the payer');
  await ask({ kind: 'open', ...options });
  return { pid: child.pid ?? 0, pay: (how) => ask({ kind: 'pay', ...how }), close };
}
