import { Option, type Command } from 'commander';
import { rfc3339 } from '@quittance/runtime/time.ts';
import { checkSystem } from '../check/check.ts';
import { keepOutcome } from '../check/keep-outcome.ts';
import type { CheckReport } from '../check/report.ts';
import { momentArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { record, sections } from '../text.ts';

const WEEK_MS = 7 * 86_400_000;

type CheckOptions = JsonOption & { since?: string; report?: boolean };

/** Whether a running system holds what it promises. */
export function checkCommand(program: Command, { api }: Ops): void {
  reads(program.command('check'))
    .description('look for what must never be: payments, events, counters and transfers that do not agree')
    .option('--since <time>', 'payments created from then on (default: a week ago)', momentArgument)
    // What is shown must mean the same each time, whoever ran it.
    .addOption(new Option('--report', 'also keep the outcome, for metrics and alerts').conflicts('since'))
    .action(async ({ since, report: reports = false, ...options }: CheckOptions) => {
      const beganAt = new Date();
      let found: CheckReport | null = null;
      try {
        found = await checkSystem(api, since ?? rfc3339(new Date(beganAt.getTime() - WEEK_MS)));
      } finally {
        // Why it could not finish is more than that this could not be kept.
        if (reports && found === null) await keepOutcome(api, beganAt, null).catch(() => undefined);
      }
      printResult(found, options, reportView);
      if (reports) await keepOutcome(api, beganAt, found);
      const { length } = found.broken;
      if (length > 0)
        throw new Failure(
          'refused',
          `${length === 1 ? 'One rule does' : `${length} rules do`} not hold. See docs/operator.md.`,
        );
    });
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
