import type { Command } from 'commander';
import { asks, authorOf, changes, idArgument, type ChangeOptions, type Ops } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { allFailed, RETRY_MAX, retryEvents, totalText, type Retried } from '../webhook-events.ts';
import { retriedView } from '../views/webhook.ts';
import { webhookReadingCommands } from './webhook-reading.ts';

const eventId = idArgument('evt');
const merchantId = idArgument('mer');

type RetryOptions = ChangeOptions & { allFailed?: boolean; merchant?: string };

export function webhookCommands(program: Command, ops: Ops): void {
  const webhook = program
    .command('webhook')
    .description('webhook events: how they are doing, and what to do for those that did not arrive');
  webhookReadingCommands(webhook, ops);
  retry(webhook, ops);
}

function retry(webhook: Command, { api, config }: Ops): void {
  asks(changes(webhook.command('retry')))
    .description('begin a new delivery cycle for events that failed; id and body of each stay')
    .argument('[events...]', 'event ids', (text: string, before: string[] | undefined) => [
      ...(before ?? []),
      eventId(text),
    ])
    .option('--all-failed', 'every event that has failed by now')
    .option('--merchant <merchant>', 'with --all-failed: only those of this merchant', merchantId)
    .action(async (ids: string[], options: RetryOptions) => {
      requireOneWay(ids, options);
      const author = authorOf(options, config);
      const events = options.allFailed === true ? await chosen(options) : [...new Set(ids)];
      const result = await retryEvents(api, events, author);
      printResult({ events: result }, options, retriedView);
      failUnlessAllRetried(result);
    });

  /** All that have failed, once a person has seen how many that is. */
  async function chosen(options: RetryOptions): Promise<string[]> {
    const { events, total } = await allFailed(api, options.merchant);
    if (events.length === 0) return [];
    const merchants = new Set(events.map(({ merchant_id }) => merchant_id)).size;
    const whose = options.merchant ?? `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}`;
    const these = total > events.length ? `the oldest ${events.length} of ${totalText(total)}` : `all ${events.length}`;
    const what = events.length === 1 ? 'the one failed event' : `${these} failed events`;
    await confirm(`Deliver ${what} of ${whose} again?`, options);
    if (total > events.length)
      note(`${RETRY_MAX} events at once are the most: repeat the command for the rest.`, options);
    return events.map(({ event_id }) => event_id);
  }
}

function requireOneWay(ids: readonly string[], { allFailed: all = false, merchant }: RetryOptions): void {
  if (all === ids.length > 0) throw new Failure('wrongUse', 'Give event ids, or --all-failed.');
  if (!all && merchant !== undefined) throw new Failure('wrongUse', '--merchant belongs to --all-failed.');
}

function failUnlessAllRetried(result: readonly Retried[]): void {
  const not = result.filter(({ outcome }) => outcome !== 'retried');
  if (not.length === 0) return;
  const unanswered = not.find(({ outcome }) => outcome === 'unanswered');
  const [event] = not;
  const which =
    result.length === 1
      ? `${event?.event_id ?? ''} was not retried`
      : `${not.length} of ${result.length} events were not retried`;
  const why = (unanswered ?? event)?.reason ?? '';
  throw new Failure(unanswered === undefined ? 'refused' : 'unreachable', `${which}: ${why}`);
}
