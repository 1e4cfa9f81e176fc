import { startForked, type Forked } from './forked.ts';
import type { PayerProcess } from './webhook-payer-process.ts';

/** Payments a second, evenly, and for how long; the merchants take turns. */
export type Paying = { aSecond: number; durationMs: number };

/** Replaces the service payments: each payment becomes PAID in a transaction of its own, which writes the message. */
export type WebhookPayer = Forked<PayerProcess>;

/** @param options.databaseUrl with payments' migrations and no other relay at its outbox. */
export async function startWebhookPayer(options: {
  databaseUrl: string;
  amqpUrl: string;
  merchantIds: readonly string[];
}): Promise<WebhookPayer> {
  const env = { ...process.env, NODE_ENV: 'production' };
  const payer = startForked<PayerProcess>('webhook-payer-process.ts', 'the payer', { env });
  await payer.ask('open', options);
  return payer;
}
