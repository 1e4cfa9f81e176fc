import { InvalidArgumentError, type Command } from 'commander';
import { formatUnits } from '@quittance/contracts/amount.ts';
import type { Acceptance } from '@quittance/contracts/http/payments/acceptance.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { LocateTransfers, type LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
import { acceptTransfer } from '../accept-transfer.ts';
import {
  asks,
  authorOf,
  changes,
  count,
  idArgument,
  reads,
  type ChangeOptions,
  type JsonOption,
  type Ops,
} from '../command.ts';
import { printResult } from '../output.ts';
import { record, sections, table } from '../text.ts';
import { candidatesText } from '../views/candidates.ts';

type AcceptOptions = ChangeOptions & { payment: string; confirmCandidates?: number };

export function transferCommands(program: Command, { api, config }: Ops): void {
  const transfer = program
    .command('transfer')
    .description('where money is, and transfers that pay no payment by themselves');
  reads(transfer.command('where'))
    .description('what became of a transaction, by the ledger and else by the chain')
    .argument('<transaction>', 'transaction id, with or without 0x', transactionArgument)
    .action(async (transactionId: string, options: JsonOption) => {
      const params = { transaction_id: transactionId };
      printResult(await api.call(LocateTransfers, { params }), options, locatedView);
    });
  asks(changes(transfer.command('accept')))
    .description('let a transfer pay a payment although it is too small, too large, late, a duplicate or ambiguous')
    .argument('<transaction>', 'transaction id, with or without 0x', transactionArgument)
    .argument('<index>', "position of the transfer's event in the transaction's receipt, from 0", count)
    .requiredOption('--payment <payment>', 'the payment that becomes PAID by it', idArgument('pay'))
    .option(
      '--confirm-candidates <number>',
      'how many payments it may be for; needed with --yes or --json when there are several',
      count,
    )
    .action(async (transactionId: string, index: number, options: AcceptOptions) => {
      const confirmed = options.confirmCandidates;
      const accepted = {
        ...{ transaction_id: transactionId, transaction_event_index: index },
        ...(confirmed !== undefined && { confirm_candidates: confirmed }),
      };
      const asked = { paymentId: options.payment, transfer: accepted, author: authorOf(options, config) };
      printResult(await acceptTransfer(api, asked, options), options, acceptanceView);
    });
}

/** Explorers write it with 0x, our own answers without. @returns 64 lowercase hexadecimal characters. */
function transactionArgument(text: string): string {
  const transactionId = parseTransactionId(text);
  if (transactionId !== null) return transactionId;
  throw new InvalidArgumentError('expected 64 hexadecimal characters, with or without 0x before them.');
}

export const acceptanceView = (acceptance: Acceptance): string =>
  record({
    payment: acceptance.payment_id,
    merchant: acceptance.merchant_id,
    status: `${acceptance.status}, ${acceptance.status_before} before`,
    'asked for': `${acceptance.expected_amount} USDT`,
    accepted: `${acceptance.amount} USDT, ${acceptance.unmatched_reason?.replaceAll('_', ' ') ?? 'no reason against it'}`,
    transaction: acceptance.transaction_id,
    index: String(acceptance.transaction_event_index),
    network: acceptance.network,
    'block time': acceptance.block_timestamp,
    confirmations: String(acceptance.confirmations),
    who: acceptance.actor,
    why: acceptance.reason,
    when: acceptance.accepted_at,
  });

/** The sentence first, then what the ledger has, or what the chain showed. */
export function locatedView({ explanation, transfers, chain }: LocatedTransfers): string {
  const ledger = table(transfers, {
    network: 'network',
    index: 'transaction_event_index',
    'block time': 'block_timestamp',
    amount: 'amount',
    wallet: 'merchant_wallet',
    merchant: 'merchant_id',
    state: 'state',
    'waits for': ({ waiting_for: waiting }) => waiting?.replace('_', ' '),
    payment: ({ payment_id: id, candidates }) => id ?? candidatesText(candidates),
    reason: ({ reason }) => reason?.replaceAll('_', ' '),
  });
  return `${explanation}\n\n${sections([transfers.length > 0 || chain === null ? ['ledger', ledger] : ['chain', chainText(chain)]])}`;
}

function chainText(chain: LookedUp): string {
  if (chain.outcome !== 'mined') return record({ outcome: chain.outcome.replaceAll('_', ' '), ...networkOf(chain) });
  const place = record({
    network: chain.network,
    block: chain.block_number,
    'block time': chain.block_timestamp,
    scanned: chain.is_scanned,
    final: chain.is_final,
    ...(chain.other_recipients.length > 0 && { 'something else to': chain.other_recipients.join(', ') }),
  });
  const transfers = table(chain.transfers, {
    index: 'transaction_event_index',
    amount: ({ amount_units: units, decimals }) => formatUnits(BigInt(units), decimals),
    from: 'from',
    to: 'to',
  });
  return `${place}\n\n${transfers}`;
}

const networkOf = (chain: LookedUp) => ('network' in chain ? { network: chain.network } : {});
