import type { Command } from 'commander';
import { authorOf, changes, idArgument, reads } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops } from '../command.ts';
import { printResult } from '../output.ts';

export function webhookCommands(program: Command, { api, config }: Ops): void {
  const webhook = program.command('webhook').description('webhook events that did not arrive');
  reads(webhook.command('failed'))
    .description('events whose attempts are used up')
    .action(async (options: JsonOption) => {
      const query = { status: 'failed' };
      printResult(await api.call('webhook-dispatcher', { method: 'GET', path: '/events', query }), options);
    });
  changes(webhook.command('retry'))
    .description('begin a new delivery cycle; id and body of the event stay')
    .argument('<event>', 'event id', idArgument('evt'))
    .action(async (id: string, options: JsonOption & AuthorOptions) => {
      const json = authorOf(options, config);
      const path = `/events/${id}/recover`;
      printResult(await api.call('webhook-dispatcher', { method: 'POST', path, json }), options);
    });
}
