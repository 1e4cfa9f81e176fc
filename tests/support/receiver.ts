import { createHmac } from 'node:crypto';
import type { WebhookEvent } from '@quittance/contracts/webhook.ts';
import type { BehaviourRequest } from '@quittance/local-stack/receiver/behaviour.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { eventually } from '@quittance/testkit/eventually.ts';
import { send } from './http.ts';
import { patience } from './paying.ts';

/** One webhook as a merchant's endpoint received it. */
export type Received = {
  received_at: string;
  method: string;
  host: string;
  path: string;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: WebhookEvent;
  /** The exact text that was signed. */
  raw_body: string;
  /** By the receiver's own implementation of the rules. */
  verified: boolean;
};

/** Everything received for this host so far, oldest first. */
export async function receivedBy(stack: StackFile, host: string): Promise<Received[]> {
  const answer = await send('GET', `${stack.receiver.url}/events?host=${host}`);
  return answer.json<{ events: Received[] }>().events;
}

/** Waits until this host received `count` webhooks, and returns all of them. */
export async function untilReceived(stack: StackFile, host: string, atLeast = 1): Promise<Received[]> {
  return eventually(
    async () => {
      const received = await receivedBy(stack, host);
      if (received.length < atLeast) throw new Error(`${host} has received ${received.length} of ${atLeast} webhooks`);
      return received;
      // No limit counts these requests.
    },
    { ...patience, intervalMs: 100 },
  );
}

/** Sets how a host answers from now on. */
export async function answerWith(
  stack: StackFile,
  host: string,
  behaviour: Omit<BehaviourRequest, 'host'>,
): Promise<void> {
  const answer = await send('POST', `${stack.receiver.url}/behaviour`, { body: { host, ...behaviour } });
  if (answer.status !== 204) throw new Error(`the receiver refused the behaviour: ${answer.text}`);
}

/** The correct X-Service-Signature. @param rawBody the bytes as received. */
export function signatureOf(signingKey: string, timestamp: string, rawBody: string): string {
  return `v1=${createHmac('sha256', signingKey).update(`${timestamp}.${rawBody}`).digest('hex')}`;
}

/** Whether a careful merchant would accept this webhook as genuine: verification rules 1 to 4 of the contract, and the ids of rule 6. */
export function isGenuine(
  webhook: Pick<Received, 'received_at' | 'headers' | 'raw_body'>,
  signingKey: string,
): boolean {
  const { headers, raw_body: rawBody, received_at: receivedAt } = webhook;
  const timestamp = headers['x-service-timestamp'] ?? '';
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(Date.parse(receivedAt) / 1000 - Number(timestamp)) > 300) return false;
  if (headers['x-service-signature'] !== signatureOf(signingKey, timestamp, rawBody)) return false;
  return (JSON.parse(rawBody) as WebhookEvent).event_id === headers['x-service-event-id'];
}
