import { setTimeout as delay } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { forwardWebhooks } from '../receiver/process.ts';
import { requireEndpoint } from '../receiver/forward.ts';
import type { WebhookRecord } from '../receiver/mailbox.ts';
import { command } from '../stack/command.ts';
import { stackDirectory, StackError } from '../stack/directory.ts';
import { readStackFile } from '../stack/stack-file.ts';

const POLL_MS = 300;

await command(async () => {
  const { forward } = new Command('npm run listen --')
    .description('Shows webhooks of the running stack as they arrive, until Ctrl-C.')
    .option('--forward <url>', 'forward them to your own endpoint, which decides the answer', endpoint)
    .allowExcessArguments(false)
    .parse()
    .opts<{ forward?: string }>();
  const { receiver, merchant } = await readStackFile(stackDirectory());
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

  let last = (await webhooks(receiver.events_url)).at(-1)?.number ?? 0;
  if (forward !== undefined) await forwardWebhooks(receiver.url, forward);
  console.log(forward === undefined ? 'Webhooks are shown here.' : `Webhooks go to ${forward}.`);
  console.log(`The demo merchant's are signed with ${merchant.key_id}: ${merchant.signing_key}\nCtrl-C ends it.`);
  try {
    while (!stopping.signal.aborted) {
      for (const webhook of await webhooks(receiver.events_url)) {
        // Webhooks after one that has no answer yet are shown later, in order.
        if (webhook.answer === null) break;
        if (webhook.number <= last) continue;
        last = webhook.number;
        console.log(describe(webhook));
      }
      await delay(POLL_MS, null, { signal: stopping.signal }).catch(() => null);
    }
  } finally {
    // This fails when the stack has stopped, which does no harm.
    if (forward !== undefined) await forwardWebhooks(receiver.url, null).catch(() => undefined);
  }
});

function endpoint(text: string): string {
  try {
    return requireEndpoint(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

async function webhooks(url: string): Promise<WebhookRecord[]> {
  const answer = await fetch(url).catch(() => null);
  if (answer === null) throw new StackError('The stack has stopped.');
  return ((await answer.json()) as { events: WebhookRecord[] }).events;
}

function describe({ received_at: at, host, body, answer }: WebhookRecord): string {
  const { status, payment_id: payment, event_id: event } = body as Record<string, string | null>;
  return `${at} ${host}: ${status ?? 'no event'} ${payment ?? ''} (${event ?? 'without an id'}), answered ${answer}`;
}
