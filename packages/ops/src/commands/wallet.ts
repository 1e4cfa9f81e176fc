import type { Command } from 'commander';
import { ReadWallet, ReleaseWallet } from '@quittance/contracts/http/payments/wallets.ts';
import type { ReleasedWallet, UnmatchedOnWallet, Wallet } from '@quittance/contracts/http/payments/wallets.ts';
import { addressArgument, asks, authorOf, changes, reads } from '../command.ts';
import type { ChangeOptions, JsonOption, Ops } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import { record, sections, table } from '../text.ts';

export function walletCommands(program: Command, { api, config }: Ops): void {
  const wallet = program.command('wallet').description('which merchant a wallet belongs to');
  reads(wallet.command('show'))
    .description(
      'whose wallet this is, since when, from whom it was taken before, and what came to it that pays nothing',
    )
    .argument('<address>', 'wallet address', addressArgument)
    .action(async (address: string, options: JsonOption) => {
      printResult(await api.call(ReadWallet, { params: { address } }), options, walletView);
    });
  asks(changes(wallet.command('release')))
    .description('forget whose wallet this is; the next merchant to use it gets it')
    .argument('<address>', 'wallet address', addressArgument)
    .action(async (address: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      await confirm(`Release ${address}? Any merchant can take it then.`, options);
      printResult(await api.call(ReleaseWallet, { params: { address }, author }), options, releasedView);
    });
}

export function walletView({ address, merchant_id, bound_at, releases, unmatched_transfers }: Wallet): string {
  const wallet = record({
    wallet: address,
    'belongs to': merchant_id ?? 'no merchant: the next one to use it gets it',
    ...(merchant_id !== null && { since: bound_at }),
  });
  const past = table(releases, { when: 'released_at', who: 'actor', 'taken from': 'merchant_id', why: 'reason' });
  const parts: (readonly [string, string])[] = [
    ...(releases.length === 0 ? [] : [['released', past] as const]),
    ...(unmatched_transfers.length === 0 ? [] : [['pays nothing', unmatchedText(unmatched_transfers)] as const]),
  ];
  return parts.length === 0 ? wallet : `${wallet}\n\n${sections(parts)}`;
}

const unmatchedText = (transfers: readonly UnmatchedOnWallet[]): string =>
  table(transfers, {
    network: 'network',
    transaction: 'transaction_id',
    index: 'transaction_event_index',
    'block time': 'block_timestamp',
    amount: 'amount',
    phase: 'phase',
    reason: ({ reason }) => reason.replace('_', ' '),
    'nearest to': 'related_payment_id',
    merchant: 'merchant_id',
  });

export const releasedView = ({ address, merchant_id }: ReleasedWallet): string =>
  record({ wallet: address, 'taken from': merchant_id });
