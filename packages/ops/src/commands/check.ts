import type { Command } from 'commander';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { checkSystem } from '../check/check.ts';
import type { CheckReport } from '../check/report.ts';
import { momentArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { record, sections } from '../text.ts';

const WEEK_MS = 7 * 86_400_000;

/** Whether a running system holds what it promises. */
export function checkCommand(program: Command, { api }: Ops): void {
  reads(program.command('check'))
    .description('look for what must never be: payments, events, counters and transfers that do not agree')
    .option('--since <time>', 'payments created from then on (default: a week ago)', momentArgument)
    .action(
      async ({ since = rfc3339(new Date(Date.now() - WEEK_MS)), ...options }: JsonOption & { since?: string }) => {
        const report = await checkSystem(api, since);
        printResult(report, options, reportView);
        const { length } = report.broken;
        if (length > 0)
          throw new Failure(
            'refused',
            `${length === 1 ? 'One rule does' : `${length} rules do`} not hold. See docs/operator.md.`,
          );
      },
    );
}

export function reportView({ since, looked_at: looked, broken }: CheckReport): string {
  const lookedAt = record({
    'payments created since': since,
    payments: looked.payments,
    events: looked.events,
    transfers: looked.transfers,
    merchants: looked.merchants,
  });
  const rules = broken.map(
    ({ rule, count, examples }) => [`${rule}: broken ${count} times`, examples.join('\n')] as const,
  );
  return sections([['looked at', lookedAt], ...(rules.length === 0 ? [['broken', '(none)'] as const] : rules)]);
}
