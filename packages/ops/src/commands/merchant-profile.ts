import { Option, type Command } from 'commander';
import { SetProfile } from '@quittance/contracts/http/api-gateway/profile.ts';
import { authorOf, changes, idArgument, type ChangeOptions, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { record } from '../text.ts';

type ProfileOptions = ChangeOptions & { displayName?: string; none?: boolean };

export function merchantProfileCommand(merchant: Command, { api, config }: Ops): void {
  changes(merchant.command('profile'))
    .description('set what customers read on the checkout page as the one who is paid; the merchant can do so itself')
    .argument('<merchant>', 'merchant id', idArgument('mer'))
    .option('--display-name <name>', '1 to 60 characters')
    .addOption(new Option('--none', 'the page names nobody').conflicts('displayName'))
    .action(async (id: string, options: ProfileOptions) => {
      const { displayName, none = false } = options;
      if (displayName === undefined && !none) throw new Failure('wrongUse', 'Give --display-name or --none.');
      const author = authorOf(options, config);
      const body = { display_name: displayName ?? null };
      const saved = await api.call(SetProfile, { params: { merchant_id: id }, body, author });
      printResult(saved, options, ({ display_name: name }) => record({ merchant: id, 'display name': name }));
    });
}
