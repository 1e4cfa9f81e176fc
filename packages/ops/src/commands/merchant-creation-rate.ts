import { Option, type Command } from 'commander';
import {
  CREATIONS_PER_MINUTE,
  CREATIONS_PER_MINUTE_MAX,
  SetCreationRate,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import { authorOf, changes, count, idArgument, type ChangeOptions, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { accountView } from '../views/merchant.ts';

type RateOptions = ChangeOptions & { perMinute?: number; default?: boolean };

export function merchantCreationRateCommand(merchant: Command, { api, config }: Ops): void {
  changes(merchant.command('set-creation-rate'))
    .description(
      `how many creations a minute all its customers share, from the ${CREATIONS_PER_MINUTE} of the contract to ${CREATIONS_PER_MINUTE_MAX}`,
    )
    .argument('<merchant>', 'merchant id', idArgument('mer'))
    .option('--per-minute <n>', 'creations', count)
    .addOption(new Option('--default', "the contract's again").conflicts('perMinute'))
    .action(async (id: string, options: RateOptions) => {
      if (options.perMinute === undefined && options.default !== true)
        throw new Failure('wrongUse', 'Give --per-minute or --default.');
      const body = { creations_per_minute: options.perMinute ?? null };
      const author = authorOf(options, config);
      printResult(await api.call(SetCreationRate, { params: { merchant_id: id }, body, author }), options, accountView);
    });
}
