import type { Command } from 'commander';
import { reads } from '../command.ts';
import type { JsonOption, Ops } from '../command.ts';
import { printResult } from '../output.ts';
import { chainsView, type Chain } from '../views/chain.ts';

export function chainCommands(program: Command, { api }: Ops): void {
  const chain = program.command('chain').description('how far the chains are followed');
  reads(chain.command('status'))
    .description('head, finality, cursor and lag of every network, and how its nodes answer')
    .action(async (options: JsonOption) => {
      printResult(
        (await api.call('chain-watcher', { method: 'GET', path: '/chains' })) as Chain[],
        options,
        chainsView,
      );
    });
}
