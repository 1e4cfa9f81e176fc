import { InvalidArgumentError, type Command } from 'commander';
import { formatUnits } from '@quittance/contracts/amount.ts';
import { AcceptTransfer, ReadAcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import type { Acceptance, AcceptanceCandidate } from '@quittance/contracts/http/payments/acceptance.ts';
import type { LookedUp } from '@quittance/contracts/http/chain-watcher/look-ups.ts';
import { LocateTransfers, type LocatedTransfers } from '@quittance/contracts/http/payments/look-ups.ts';
import { parseTransactionId } from '@quittance/contracts/ids.ts';
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
import { confirm } from '../confirm.ts';
import { printResult } from '../output.ts';
import { record, sections, shortTime, table } from '../text.ts';

type AcceptOptions = ChangeOptions & { payment: string };

export function transferCommands(program: Command, { api, config }: Ops): void {
  const transfer = program
    .command('transfer')
    .description('where money is, and transfers that pay nothing by themselves');
  reads(transfer.command('where'))
    .description('what became of a transaction, by the ledger and else by the chain')
    .argument('<transaction>', 'transaction id, with or without 0x', transactionArgument)
    .action(async (transactionId: string, options: JsonOption) => {
      const params = { transaction_id: transactionId };
      printResult(await api.call(LocateTransfers, { params }), options, locatedView);
    });
  asks(changes(transfer.command('accept')))
    .description('let a transfer pay a payment although it is too small, too large, late or a duplicate')
    .argument('<transaction>', 'transaction id, with or without 0x', transactionArgument)
    .argument('<index>', "position of the transfer's event in the transaction's receipt, from 0", count)
    .requiredOption('--payment <payment>', 'the payment that becomes PAID by it', idArgument('pay'))
    .action(async (transactionId: string, index: number, options: AcceptOptions) => {
      const params = { payment_id: options.payment };
      const event = { transaction_id: transactionId, transaction_event_index: index };
      const author = authorOf(options, config);
      await confirm(async () => {
        const place = { transaction_id: transactionId, transaction_event_index: String(index) };
        return acceptQuestion(await api.call(ReadAcceptanceCandidate, { params: { ...params, ...place } }));
      }, options);
      printResult(await api.call(AcceptTransfer, { params, body: event, author }), options, acceptanceView);
    });
}

/** Explorers write it with 0x, our own answers without. @returns 64 lowercase hexadecimal characters. */
function transactionArgument(text: string): string {
  const transactionId = parseTransactionId(text);
  if (transactionId !== null) return transactionId;
  throw new InvalidArgumentError('expected 64 hexadecimal characters, with or without 0x before them.');
}

/** It shows both amounts and the reason, so that the operator who confirms has seen them. */
export function acceptQuestion(candidate: AcceptanceCandidate): string {
  const { payment_id, status, expected_amount, amount, unmatched_reason, block_timestamp } = candidate;
  const reason = unmatched_reason ?? 'no reason against it';
  const transfer = `the transfer of ${amount} USDT (${reason}, ${shortTime(block_timestamp)})`;
  return `Accept ${transfer} for ${payment_id}, which is ${status} and asks for ${expected_amount} USDT? It becomes PAID for good.`;
}

export const acceptanceView = (acceptance: Acceptance): string =>
  record({
    payment: acceptance.payment_id,
    merchant: acceptance.merchant_id,
    status: `${acceptance.status}, ${acceptance.status_before} before`,
    'asked for': `${acceptance.expected_amount} USDT`,
    accepted: `${acceptance.amount} USDT, ${acceptance.unmatched_reason ?? 'no reason against it'}`,
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
    payment: 'payment_id',
    'pays nothing': 'reason',
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
