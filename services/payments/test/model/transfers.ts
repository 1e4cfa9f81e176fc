import { createHash } from 'node:crypto';
import { toTokenUnits } from '@quittance/contracts/amount.ts';
import type { TransferObserved } from '@quittance/contracts/messages.ts';
import type { AmountPaid, Arrived, Chain, Reading } from './plan.ts';
import { timestamp } from './steps.ts';
import { fromEnd, paymentAt, type Run } from './run.ts';
import { type ModelPayment, transferKey } from './state.ts';
import { floorSecond } from './whose-money.ts';

/* What happens on the chain: new transfers, and news of known ones. chain-watcher knows it from then on. */

/** A customer pays, for this payment or nearly. */
export function newTransfer(run: Run, call: Chain & { do: 'transfer' }): TransferObserved | null {
  const payment = paymentAt(run, call.place);
  if (payment === undefined) return null;
  const network = run.networks.find(({ id }) => id === payment.network)!;
  const position = run.otherServices.chain.size;
  const arrived = arrivedAt(run, payment, call.at);
  return publish(run, {
    merchant_id: payment.merchant,
    network: payment.network,
    // Every third one is a second event of the previous transaction.
    transaction_id: hash(`transaction ${position % 3 === 2 ? position - 1 : position}`),
    transaction_event_index: position % 3,
    ...blockAt(run, arrived, call.ahead),
    from: call.self ? payment.wallet : '0xdAC17F958D2ee523a2206206994597C13D831ec7',
    to: payment.wallet,
    amount_units: String(paidUnits(run, payment, network.decimals, call.amount)),
    decimals: network.decimals,
    phase: call.confirmed ? 'confirmed' : 'seen',
    version: 1,
    confirmations: call.confirmed ? 2 : 1,
    confirmations_required: 2,
    ...firstReading(Math.min(arrived, run.model.now), run.model.now, call.reading),
  });
}

function paidUnits(run: Run, payment: ModelPayment, decimals: number, paid: AmountPaid): bigint {
  const exact = toTokenUnits(payment.units, decimals);
  const unit = toTokenUnits(1n, decimals);
  const another = [...run.model.payments.values()].findLast(
    ({ network, wallet, units }) => network === payment.network && wallet === payment.wallet && units !== payment.units,
  );
  const arrived = [...run.otherServices.chain.values()]
    .map((versions) => versions.at(-1)!)
    .filter(({ network, to, phase }) => network === payment.network && to === payment.wallet && phase !== 'retracted')
    .reduce((sum, { amount_units: units }) => sum + BigInt(units), 0n);
  const named = {
    exact,
    missing: exact > arrived ? exact - arrived : exact,
    under: exact - unit,
    over: exact + unit,
    'a hair over': exact + 1n,
    'of another': another === undefined ? exact : toTokenUnits(another.units, decimals),
  };
  const units = typeof paid === 'number' ? (exact * BigInt(paid * 10)) / 1000n : named[paid];
  // Zero is no transfer.
  return units === 0n ? exact + unit : units;
}

function firstReading(
  arrived: number,
  now: number,
  reading: Reading,
): Pick<TransferObserved, 'first_seen_at' | 'live'> {
  if (reading === 'not said') return {};
  const seen = reading === 'now' ? now : arrived;
  return { first_seen_at: timestamp(seen), live: reading === 'live' };
}

/** The next state of a transfer: confirmed, gone, or back, maybe in another block or with another amount. */
export function nextNews(run: Run, call: Chain & { do: 'next' }): TransferObserved | null {
  const known = fromEnd([...run.otherServices.chain.values()], call.place)?.at(-1);
  if (known === undefined) return null;
  const near = [...run.model.payments.values()].findLast(
    ({ network, wallet }) => network === known.network && wallet === known.to,
  );
  const { first_seen_at: firstSeen, live, ...rest } = known;
  const units = BigInt(known.amount_units);
  // chain-watcher keeps the first reading. That a later one changes nothing is only visible if payments has received the first.
  const key = transferKey({
    network: known.network,
    id: known.transaction_id,
    index: known.transaction_event_index,
  });
  const isDelivered = run.model.ledger.get(key)?.version === known.version;
  const readings = {
    'as before': firstSeen === undefined ? {} : { first_seen_at: firstSeen, live: live ?? false },
    // After every earlier one, including one that was read this very moment.
    later: { first_seen_at: timestamp(run.model.now + 1), live: false },
    'not said': {},
  };
  return publish(run, {
    ...rest,
    ...(call.at !== null && near !== undefined && blockAt(run, arrivedAt(run, near, call.at), call.ahead)),
    amount_units: String(call.under && units > 1n ? units - 1n : units),
    phase: call.phase,
    version: known.version + 1,
    confirmations: { seen: 1, confirmed: 2, retracted: 0 }[call.phase],
    ...readings[isDelivered ? call.reading : 'as before'],
  });
}

/** A transfer is now to another wallet, in a new block. */
export function movedTransfer(run: Run, call: Chain & { do: 'moved' }): TransferObserved | null {
  const known = fromEnd([...run.otherServices.chain.values()], call.place)?.at(-1);
  const to = run.wallets[call.wallet]!;
  if (known === undefined || known.to === to || known.from === to) return null;
  return publish(run, {
    ...known,
    ...{ to, phase: call.phase, version: known.version + 1, confirmations: call.phase === 'seen' ? 1 : 2 },
    ...blockAt(run, Date.parse(known.block_timestamp), 0),
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

function arrivedAt(run: Run, payment: ModelPayment, at: Arrived): number {
  const { now } = run.model;
  switch (at.near) {
    case 'creation':
      return payment.createdAt + at.seconds * 1000;
    case 'expiry':
      return payment.expiresAt + at.seconds * 1000;
    case 'cancellation':
      return (payment.cancelledAt ?? now) + at.seconds * 1000;
    case 'middle':
      return Math.floor((payment.createdAt + Math.min(payment.expiresAt, now)) / 2);
    case 'now':
      return now;
  }
}

/** Blocks have whole seconds, of the chain's clock. */
function blockAt(run: Run, arrived: number, ahead: number) {
  const time = floorSecond(arrived) + ahead * 1000;
  // No two messages name the same block, so the chain has a single order.
  const number = (time / 1000 - 1_900_000_000) * 1000 + run.transfers.length;
  return {
    block_number: number,
    block_hash: `0x${hash(`block ${number} ${run.transfers.length}`)}`,
    block_timestamp: timestamp(time),
  };
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
