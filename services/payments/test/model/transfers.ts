import { createHash } from 'node:crypto';
import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages/transfer-observed.ts';
import type { BlockTime, Call } from './plan.ts';
import { timestamp } from './steps.ts';
import { floorSecond } from './rules.ts';
import { fromEnd, paymentAt, type Run } from './run.ts';
import { type ModelPayment, transferKey } from './state.ts';

/* What happens on the chain: new transfers, and news of known ones. chain-watcher knows it from then on. */

/** Someone pays, for this payment or nearly. */
export function newTransfer(run: Run, call: Call & { do: 'transfer' }): TransferObserved | null {
  const payment = paymentAt(run, call.place);
  if (payment === undefined) return null;
  const network = run.networks.find(({ id }) => id === payment.network)!;
  const exact = toTokenUnits(payment.units, network.decimals);
  const unit = toTokenUnits(1n, network.decimals);
  const units = { exact, under: exact - unit, over: exact + unit, 'a hair over': exact + 1n }[call.amount];
  const position = run.otherServices.chain.size;
  return publish(run, {
    merchant_id: payment.merchant,
    network: payment.network,
    // Every third one is a second event of the transaction before.
    transaction_id: hash(`transaction ${position % 3 === 2 ? position - 1 : position}`),
    transaction_event_index: position % 3,
    ...blockAt(run, timeFor(run, payment, call.at)),
    from: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    to: payment.wallet,
    // Nothing is no transfer.
    amount_units: String(units === 0n ? exact + unit : units),
    decimals: network.decimals,
    phase: call.confirmed ? 'confirmed' : 'seen',
    version: 1,
    confirmations: call.confirmed ? 2 : 1,
    confirmations_required: 2,
  });
}

/** What becomes of a transfer: confirmed, gone, or back, maybe in another block or with another amount. */
export function nextNews(run: Run, call: Call & { do: 'next' }): TransferObserved | null {
  const known = fromEnd([...run.otherServices.chain.values()], call.place)?.at(-1);
  if (known === undefined) return null;
  const near = [...run.model.payments.values()].findLast(
    ({ network, wallet }) => network === known.network && wallet === known.to,
  );
  const units = BigInt(known.amount_units);
  return publish(run, {
    ...known,
    ...(call.at !== null && near !== undefined && blockAt(run, timeFor(run, near, call.at))),
    amount_units: String(call.under && units > 1n ? units - 1n : units),
    phase: call.phase,
    version: known.version + 1,
    confirmations: { seen: 1, confirmed: 2, retracted: 0 }[call.phase],
  });
}

function publish(run: Run, message: TransferObserved): TransferObserved {
  const key = transferKey({
    network: message.network,
    id: message.transaction_id,
    index: message.transaction_event_index,
  });
  run.otherServices.chain.set(key, [...(run.otherServices.chain.get(key) ?? []), message]);
  run.transfers.push(message);
  return message;
}

/** Blocks have whole seconds. */
function timeFor(run: Run, payment: ModelPayment, at: BlockTime): number {
  const { now } = run.model;
  switch (at.near) {
    case 'creation':
      return floorSecond(payment.createdAt) + at.seconds * 1000;
    case 'expiry':
      return floorSecond(payment.expiresAt) + at.seconds * 1000;
    case 'cancellation':
      return floorSecond(payment.cancelledAt ?? now) + at.seconds * 1000;
    case 'middle':
      return floorSecond((payment.createdAt + Math.min(payment.expiresAt, now)) / 2);
    case 'now':
      return floorSecond(now);
  }
}

function blockAt(run: Run, time: number) {
  // No two messages name the same block, so that there is one order of the chain.
  const number = (Math.floor(time / 1000) - 1_900_000_000) * 1000 + run.transfers.length;
  return {
    block_number: number,
    block_hash: `0x${hash(`block ${number} ${run.transfers.length}`)}`,
    block_timestamp: timestamp(time),
  };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
