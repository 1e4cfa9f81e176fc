import { signatureProblem } from './signature.ts';
import type { Delivery } from './signature.ts';

export type ReceivedWebhook = Delivery & {
  method: string;
  host: string;
  path: string;
  /** The answer that the sender got; null while a forwarded webhook has none yet. */
  answer: string | null;
};

/** The shape in the control API. */
export type WebhookRecord = {
  /** Position among all webhooks received since the process started, from 1. */
  number: number;
  received_at: string;
  method: string;
  host: string;
  path: string;
  headers: Record<string, string>;
  /** Parsed if it is JSON, else the text. */
  body: unknown;
  /** The exact text that was signed. */
  raw_body: string;
  verified: boolean;
  /** Why it is not verified. */
  problem: string | null;
  answer: string | null;
};

const maxWebhooks = 20_000;
const maxBytes = 32 * 1024 * 1024;
const maxKeys = 10_000;

/** The webhooks received, newest last. When there are too many, the oldest are dropped. */
export class Mailbox {
  #webhooks: (ReceivedWebhook & { number: number })[] = [];
  #count = 0;
  #bytes = 0;
  readonly #keys = new Map<string, string>();

  /** Keeps the object itself, so that the answer can be set later. */
  add(webhook: ReceivedWebhook): void {
    this.#webhooks.push(Object.assign(webhook, { number: (this.#count += 1) }));
    this.#bytes += webhook.body.length;
    while (this.#webhooks.length > maxWebhooks || this.#bytes > maxBytes)
      this.#bytes -= this.#webhooks.shift()?.body.length ?? 0;
  }

  clear(): void {
    this.#webhooks = [];
    this.#bytes = 0;
  }

  trust(keyId: string, signingKey: string): void {
    if (this.#keys.size >= maxKeys) this.#keys.delete(this.#keys.keys().next().value ?? '');
    this.#keys.set(keyId, signingKey);
  }

  /** Verified on each read against the time of receipt, so that a key may be added after its first webhook. */
  list(host: string | null): WebhookRecord[] {
    const chosen = host === null ? this.#webhooks : this.#webhooks.filter((webhook) => webhook.host === host);
    return chosen.map((webhook) => {
      const problem = signatureProblem(webhook, this.#keys);
      const text = webhook.body.toString();
      return {
        number: webhook.number,
        received_at: webhook.receivedAt.toISOString(),
        method: webhook.method,
        host: webhook.host,
        path: webhook.path,
        headers: webhook.headers,
        body: parsed(text),
        raw_body: text,
        verified: problem === null,
        problem,
        answer: webhook.answer,
      };
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
