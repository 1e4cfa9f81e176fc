import type { Command } from 'commander';
import {
  ChallengeWallet,
  ProveWallet,
  type ProvenWallet,
  ReadWallet,
  type ReleasedWallet,
  ReleaseWallet,
  type UnmatchedOnWallet,
  type Wallet,
  type WalletChallenge,
} from '@quittance/contracts/http/payments/wallets.ts';
import { addressArgument, asks, authorOf, changes, idArgument, reads } from '../command.ts';
import type { ChangeOptions, JsonOption, Ops } from '../command.ts';
import { confirm } from '../confirm.ts';
import { note, printResult } from '../output.ts';
import { record, sections, shortTime, table } from '../text.ts';
import { candidatesText } from '../views/candidates.ts';

const merchantId = idArgument('mer');

export function walletCommands(program: Command, ops: Ops): void {
  const { api, config } = ops;
  const wallet = program.command('wallet').description('which merchant a wallet belongs to');
  reads(wallet.command('show'))
    .description('whose wallet this is, since when, from whom it was taken before, and its unmatched transfers')
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
  provingCommands(wallet, ops);
}

function provingCommands(wallet: Command, { api, config }: Ops): void {
  reads(wallet.command('challenge'))
    .description("print the text that the wallet's owner is to sign for this merchant; an earlier text is void then")
    .argument('<merchant>', 'merchant id', merchantId)
    .argument('<address>', 'wallet address', addressArgument)
    .action(async (merchant_id: string, address: string, options: JsonOption) => {
      const challenge = await api.call(ChallengeWallet, { params: { address }, body: { merchant_id } });
      printResult(challenge, options, challengeView);
      note(`To be signed as it stands, until ${shortTime(challenge.ends_at)}. Then: wallet verify`, options);
    });
  asks(changes(wallet.command('verify')))
    .description('give a wallet to the merchant for whom its owner has signed, whosever it was before')
    .argument('<merchant>', 'merchant id', merchantId)
    .argument('<address>', 'wallet address', addressArgument)
    .requiredOption('--signature <hex>', "the signature over the challenge's text, EIP-191 or Tron's")
    .action(async (merchant_id: string, address: string, options: ChangeOptions & { signature: string }) => {
      const author = authorOf(options, config);
      await confirmTaking(await api.call(ReadWallet, { params: { address } }), merchant_id, options);
      const body = { merchant_id, signature: options.signature };
      printResult(await api.call(ProveWallet, { params: { address }, body, author }), options, provenView);
    });
}

/** Only a wallet that somebody else has is asked about: their open payments are cancelled. */
async function confirmTaking(wallet: Wallet, merchantId: string, options: ChangeOptions): Promise<void> {
  if (wallet.merchant_id === null || wallet.merchant_id === merchantId) return;
  await confirm(`${wallet.address} belongs to ${wallet.merchant_id}. Take it, and cancel what waits on it?`, options);
}

/** Nothing but the text, so that it can be given to a program that signs. */
const challengeView = ({ text }: WalletChallenge): string => text;

export const provenView = ({ address, merchant_id, taken_from, cancelled_payments, proven_at }: ProvenWallet): string =>
  record({
    wallet: address,
    'belongs to': merchant_id,
    'proven at': proven_at,
    ...(taken_from !== null && { 'taken from': taken_from }),
    'payments cancelled': cancelled_payments,
  });

export function walletView(shown: Wallet): string {
  const { address, merchant_id, bound_at, proven_at, releases, proofs, unmatched_transfers } = shown;
  const wallet = record({
    wallet: address,
    'belongs to': merchant_id ?? 'no merchant: the next one to use it gets it',
    ...(merchant_id !== null && { since: bound_at, proven: proven_at ?? 'no: it only used the wallet first' }),
  });
  const past = table(releases, { when: 'released_at', who: 'actor', 'taken from': 'merchant_id', why: 'reason' });
  const proven = table(proofs, {
    when: 'proven_at',
    who: 'actor',
    'given to': 'merchant_id',
    'taken from': 'taken_from',
    'payments cancelled': 'cancelled_payments',
    why: 'reason',
  });
  const parts: (readonly [string, string])[] = [
    ...(proofs.length === 0 ? [] : [['proven', proven] as const]),
    ...(releases.length === 0 ? [] : [['released', past] as const]),
    ...(unmatched_transfers.length === 0 ? [] : [['unmatched transfers', unmatchedText(unmatched_transfers)] as const]),
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
    reason: ({ reason }) => reason.replaceAll('_', ' '),
    payment: ({ candidates }) => candidatesText(candidates),
    merchant: 'merchant_id',
  });

export const releasedView = ({ address, merchant_id }: ReleasedWallet): string =>
  record({ wallet: address, 'taken from': merchant_id });
