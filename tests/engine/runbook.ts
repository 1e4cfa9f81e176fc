import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';

/** A command of a runbook as it is typed on one server, and in which answer of the runbook it is. */
export type RunbookCommand = { answer: 'Check' | 'Do'; command: string };

/** What is typed on one server: Compose, `ops` in its container, scripts of the checkout, and the machine's own programs. */
const typed = /^(?:(?:docker compose|ops|rabbitmqctl|df) |sh infra\/)/;

/**
 * The commands for Compose that Check and Do of an alert's runbook have, in order, each once. `ops` and `rabbitmqctl` get the words that
 * docs/runbooks/README.md puts before them.
 * @param page such as `processes`. @throws Error when the alert has no runbook there.
 */
export function runbookCommands(page: string, alert: string): RunbookCommand[] {
  const text = readFileSync(join(repositoryRoot, 'docs', 'runbooks', `${page}.md`), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${alert}\n`));
  if (section === undefined) throw new Error(`docs/runbooks/${page}.md has no section ${alert}`);
  const commands = (['Check', 'Do'] as const).flatMap((answer) => {
    const [, written = ''] = new RegExp(String.raw`^\*\*${answer}\.\*\* ([^]*?)(?=^\*\*)`, 'm').exec(section) ?? [];
    const spans = [...written.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
    return spans.filter((span) => typed.test(span)).map((span) => ({ answer, command: onOneServer(span) }));
  });
  return commands.filter(({ command }, position) => commands.findIndex((one) => one.command === command) === position);
}

function onOneServer(command: string): string {
  if (command.startsWith('ops ')) return `docker compose run --rm ${command}`;
  if (command.startsWith('rabbitmqctl ')) return `docker compose exec rabbitmq ${command.replace(' -p quittance', '')}`;
  return command;
}
