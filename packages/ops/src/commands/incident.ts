import { InvalidArgumentError } from 'commander';
import type { Command } from 'commander';
import { authorOf, changes, reads } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops } from '../command.ts';
import { note, printResult } from '../output.ts';
import { incidentsView, incidentView, type Incident } from '../views/incident.ts';

/** A list that is this long may go on. */
const PAGE = 100;

type ListOptions = JsonOption & { all?: boolean; before?: string };

/** What payments could not decide: the transfer of a paid payment is gone from the chain. */
export function incidentCommands(program: Command, { api, config }: Ops): void {
  const incident = program.command('incident').description('what only a person can decide');
  reads(incident.command('list'))
    .description('the newest hundred open incidents')
    .option('--all', 'resolved ones as well')
    .option('--before <incident>', 'go on after this one, the last of the page before', incidentArgument)
    .action(async (options: ListOptions) => {
      const query = {
        status: options.all ? 'all' : 'open',
        ...(options.before !== undefined && { before: options.before }),
      };
      const request = { method: 'GET', path: '/incidents', query } as const;
      const page = (await api.call('payments', request)) as { incidents: Incident[] };
      printResult(page, options, incidentsView);
      const last = page.incidents.at(PAGE - 1);
      const all = options.all ? ' --all' : '';
      if (last !== undefined)
        note(`There may be older ones: incident list${all} --before ${last.incident_id}`, options);
    });
  changes(incident.command('resolve'))
    .description('say that somebody has dealt with it; nothing else changes')
    .argument('<incident>', 'incident id', incidentArgument)
    .action(async (id: string, options: JsonOption & AuthorOptions) => {
      const json = authorOf(options, config);
      const resolved = await api.call('payments', { method: 'POST', path: `/incidents/${id}/resolve`, json });
      printResult(resolved as Incident, options, incidentView);
    });
}

function incidentArgument(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)) return text;
  throw new InvalidArgumentError('expected an id such as 5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a.');
}
