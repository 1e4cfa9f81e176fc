import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { orders } from './orders.ts';
import type { WebhookMerchant } from './webhook-merchants.ts';

/** `raw` sends what it has in memory and keeps no record; the others keep their jobs in PostgreSQL, as we keep deliveries. */
export type SenderKind = 'raw' | 'graphile-worker' | 'pg-boss';

/** Attempts at once: what the dispatcher allows itself. */
export const IN_FLIGHT = 1_024;
/** Of them, to one host. */
export const CONNECTIONS_PER_HOST = 64;

export type SenderOrder =
  | {
      kind: 'open';
      sender: SenderKind;
      merchants: readonly WebhookMerchant[];
      /** Of an empty database; `raw` leaves it alone. */
      databaseUrl: string;
      receiver: { port: number; authorityFile: string };
    }
  /** Adds events, the merchants taking turns; nothing is sent yet. */
  | { kind: 'add'; events: number }
  /** Starts sending what was added. */
  | { kind: 'send' }
  /** Answers once nothing is left, on record too, with the time when that was so (`machineMs`). */
  | { kind: 'finish' };

export type WebhookSender = {
  pid: number;
  add(events: number): Promise<void>;
  send(): Promise<void>;
  finish(): Promise<number>;
  close(): Promise<void>;
};

export async function startWebhookSender(
  options: Omit<Extract<SenderOrder, { kind: 'open' }>, 'kind'>,
): Promise<WebhookSender> {
  const child = fork(fileURLToPath(new URL('webhook-sender-process.ts', import.meta.url)), {
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const { ask, close } = orders<SenderOrder, number>(child, options.sender);
  await ask({ kind: 'open', ...options });
  return {
    pid: child.pid ?? 0,
    async add(events) {
      await ask({ kind: 'add', events });
    },
    async send() {
      await ask({ kind: 'send' });
    },
    finish: () => ask({ kind: 'finish' }),
    close,
  };
}
