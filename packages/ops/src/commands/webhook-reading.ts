import { InvalidArgumentError, type Command } from 'commander';
import { ReadEvent, ReadEventOfPayment } from '@quittance/contracts/http/webhook-dispatcher/events.ts';
import { ListLanes } from '@quittance/contracts/http/webhook-dispatcher/lanes.ts';
import { isId } from '@quittance/contracts/ids.ts';
import { idArgument, momentArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { note, noteOlder, PAGE, printResult } from '../output.ts';
import { readFailed, totalText } from '../webhook-events.ts';
import { eventView, failedView, lanesView } from '../views/webhook.ts';

const eventId = idArgument('evt');
const merchantId = idArgument('mer');

type FailedOptions = JsonOption & { merchant?: string; after?: string };
type LanesOptions = JsonOption & { merchant?: string; held?: boolean };

/** What an operator looks at to find out why a webhook did not arrive. */
export function webhookReadingCommands(webhook: Command, ops: Ops): void {
  show(webhook, ops);
  lanes(webhook, ops);
  failed(webhook, ops);
}

function show(webhook: Command, { api }: Ops): void {
  reads(webhook.command('show'))
    .description('how an event is doing, and its attempts, the newest hundred')
    .argument('<event>', 'event id, or the id of its payment', eventOrPayment)
    .option('--before <time>', 'only attempts that began before this moment', momentArgument)
    .action(async (id: string, options: JsonOption & { before?: string }) => {
      const query = { before: options.before };
      const described = isId('evt', id)
        ? await api.call(ReadEvent, { params: { event_id: id }, query })
        : await api.call(ReadEventOfPayment, { params: { payment_id: id }, query });
      printResult(described, options, eventView);
      noteOlder(described.attempts, options, (last) => `webhook show ${id} --before ${last.started_at}`);
    });
}

function lanes(webhook: Command, { api }: Ops): void {
  reads(webhook.command('lanes'))
    .description('merchants whose events wait, the hundred that wait longest, and why they do')
    .option('--merchant <merchant>', 'only this one, whether it waits or not', merchantId)
    .option('--held', 'those of blocked accounts, which wait on purpose, instead of the others')
    .action(async ({ merchant, held = false, ...options }: LanesOptions) => {
      const query = merchant === undefined ? { held: String(held) } : { merchant_id: merchant };
      const page = await api.call(ListLanes, { query });
      printResult(page, options, lanesView);
      if (page.total > page.lanes.length) note(`${page.lanes.length} of ${page.total}.`, options);
    });
}

function failed(webhook: Command, { api }: Ops): void {
  reads(webhook.command('failed'))
    .description('events that failed, the oldest hundred')
    .option('--merchant <merchant>', 'only those of this merchant', merchantId)
    .option('--after <event>', 'go on after this one, the last of the page before', eventId)
    .action(async (options: FailedOptions) => {
      const page = await readFailed(api, options);
      printResult(page, options, failedView);
      const last = page.events.at(PAGE - 1);
      if (last === undefined || page.total === PAGE) return;
      const only = options.merchant === undefined ? '' : ` --merchant ${options.merchant}`;
      note(`${PAGE} of ${totalText(page.total)}. Go on with: webhook failed${only} --after ${last.event_id}`, options);
    });
}

function eventOrPayment(text: string): string {
  if (isId('evt', text) || isId('pay', text)) return text;
  throw new InvalidArgumentError('expected evt_ or pay_ and 32 lowercase hexadecimal characters.');
}
