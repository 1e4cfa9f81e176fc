import type { Command } from 'commander';
import { asks, authorOf, changes } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops, YesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';

export function walletCommands(program: Command, { api, config }: Ops): void {
  const wallet = program.command('wallet').description('which merchant a wallet belongs to');
  asks(changes(wallet.command('release')))
    .description('forget whose wallet this is; the next merchant to use it gets it')
    .argument('<address>', 'wallet address')
    .action(async (address: string, options: JsonOption & AuthorOptions & YesOption) => {
      const author = authorOf(options, config);
      await confirm(`Release ${address}? Any merchant can take it then.`, options);
      const path = `/wallets/${encodeURIComponent(address)}/release`;
      printResult(await api.call('payments', { method: 'POST', path, json: author }), options);
    });
}
