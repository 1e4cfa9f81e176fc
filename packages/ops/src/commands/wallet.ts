import type { Command } from 'commander';
import { ReadWallet, ReleaseWallet } from '@quittance/contracts/http/payments/wallets.ts';
import { addressArgument, asks, authorOf, changes, reads } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops, YesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import { releasedView, walletView } from '../views/wallet.ts';

export function walletCommands(program: Command, { api, config }: Ops): void {
  const wallet = program.command('wallet').description('which merchant a wallet belongs to');
  reads(wallet.command('show'))
    .description('whose wallet this is, since when, and from whom it was taken before')
    .argument('<address>', 'wallet address', addressArgument)
    .action(async (address: string, options: JsonOption) => {
      printResult(await api.call(ReadWallet, { params: { address } }), options, walletView);
    });
  asks(changes(wallet.command('release')))
    .description('forget whose wallet this is; the next merchant to use it gets it')
    .argument('<address>', 'wallet address', addressArgument)
    .action(async (address: string, options: JsonOption & AuthorOptions & YesOption) => {
      const author = authorOf(options, config);
      await confirm(`Release ${address}? Any merchant can take it then.`, options);
      printResult(await api.call(ReleaseWallet, { params: { address }, author }), options, releasedView);
    });
}
