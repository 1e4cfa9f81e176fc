import { InvalidArgumentError, type Command } from 'commander';
import { isIncidentId } from '@quittance/contracts/http/incidents.ts';
import { authorOf, changes, reads, type ChangeOptions, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { parsePlace, readIncidentPage, resolveIncident, type Place, type ListedIncident } from '../incidents.ts';
import { note, printResult } from '../output.ts';
import { lines, shortTime, table, type Cell } from '../text.ts';

type ListOptions = JsonOption & { all?: boolean; before?: Place };

/** What the services could not decide: payments about payments, chain-watcher about networks. */
export function incidentCommands(program: Command, { api, config }: Ops): void {
  const incident = program.command('incident').description('what only a person can decide');
  reads(incident.command('list'))
    .description('the newest hundred open incidents, about payments and about networks')
    .option('--all', 'resolved ones as well')
    .option('--before <place>', 'go on after a page, with what that page ended with', placeArgument)
    .action(async (options: ListOptions) => {
      const page = await readIncidentPage(api, options.all ? 'all' : 'open', options.before ?? null);
      if (page.silent.length < 2) printResult(page, options, incidentsView);
      const all = options.all ? ' --all' : '';
      if (page.next_before !== null)
        note(`There may be older ones: incident list${all} --before ${page.next_before}`, options);
      // What is missing must not look like nothing.
      if (page.silent.length > 0) throw new Failure('unreachable', page.silent.join('\n'));
    });
  changes(incident.command('resolve'))
    .description('record that it was dealt with; nothing else changes')
    .argument('<incident>', 'incident id', incidentArgument)
    .action(async (id: string, options: ChangeOptions) => {
      printResult(await resolveIncident(api, id, authorOf(options, config)), options, incidentView);
    });
}

function incidentArgument(text: string): string {
  if (isIncidentId(text)) return text;
  throw new InvalidArgumentError('expected an id such as 5f0c7a7e-3f4e-4c1e-9a57-0d6f0c9b1f2a.');
}

function placeArgument(text: string): Place {
  const place = parsePlace(text);
  if (place !== null) return place;
  throw new InvalidArgumentError(
    'expected what the page before ended with: two incident ids with a comma between them.',
  );
}

export const incidentsView = ({ incidents }: { incidents: readonly ListedIncident[] }): string =>
  table(incidents, {
    incident: 'incident_id',
    kind: 'kind',
    opened: 'opened_at',
    about: 'about',
    which: (incident) => (incident.about === 'payment' ? incident.payment_id : incident.network),
    network: 'network',
    times: (incident) => (incident.about === 'payment' ? 1 : incident.times),
    resolved: 'resolved_at',
    by: 'resolved_by',
  });

export const incidentView = (incident: ListedIncident): string =>
  lines([
    ['incident', incident.incident_id],
    ['kind', incident.kind],
    ...subject(incident),
    ['opened', incident.opened_at],
    ['resolved', incident.resolved_at],
    ['who', incident.resolved_by],
    ['why', incident.resolved_reason],
  ]);

function subject(incident: ListedIncident): (readonly [string, Cell])[] {
  if (incident.about === 'payment') {
    return [
      ['payment', incident.payment_id],
      ['merchant', incident.merchant_id],
      ['transaction', `${incident.transaction_id} on ${incident.network}`],
      ['index', String(incident.transaction_event_index)],
    ];
  }
  const details = Object.entries(incident.detail).map(
    ([name, value]) => [name.replaceAll('_', ' '), typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  return [
    ['network', incident.network],
    ...details,
    ['seen', incident.times === 1 ? 'once' : `${incident.times} times, last ${shortTime(incident.last_seen_at)}`],
  ];
}
