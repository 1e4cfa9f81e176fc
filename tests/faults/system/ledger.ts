import { id as keccakOfText, getAddress } from 'ethers';
import { formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import type { MinedChain } from './chain.ts';

/** A transfer on the final chain, read independently of our code. */
export type Arrived = {
  /** Transaction id without 0x, a dash, and its position among the receipt's events. */
  key: string;
  /** With its checksum, as payments shows it. */
  wallet: string;
  /** Millionths of a USDT. */
  units: bigint;
  /** Time of its block, milliseconds since 1970. */
  at: number;
  /** When it was first in a block, by the machine's clock. */
  minedAt: number;
  /** The payment for which its customer sent it; null if unknown, because the answer to the sender was lost. */
  sentFor: string | null;
};

type Log = {
  topics: [string, string, string];
  data: string;
  transactionHash: string;
  blockNumber: string;
  logIndex: string;
};
type Receipt = { logs: { logIndex: string }[] };

/**
 * Every transfer of the token to one of these wallets, oldest first.
 * @param senders by transaction id, the payment for which the customer sent it.
 */
export async function arrivedOn(
  { rpcUrl, token, firstMinedAt }: Pick<MinedChain, 'rpcUrl' | 'token' | 'firstMinedAt'>,
  wallets: readonly string[],
  senders: ReadonlyMap<string, string>,
): Promise<Arrived[]> {
  const wanted = new Set(wallets);
  const logs = await rpc<Log[]>(rpcUrl, 'eth_getLogs', [
    {
      fromBlock: '0x0',
      toBlock: 'latest',
      address: token,
      topics: [keccakOfText('Transfer(address,address,uint256)')],
    },
  ]);
  const arrived: Arrived[] = [];
  for (const { topics, data, transactionHash, blockNumber, logIndex } of logs) {
    const wallet = getAddress(`0x${topics[2].slice(-40)}`);
    if (!wanted.has(wallet)) continue;
    const { timestamp } = await rpc<{ timestamp: string }>(rpcUrl, 'eth_getBlockByNumber', [blockNumber, false]);
    const { logs: all } = await rpc<Receipt>(rpcUrl, 'eth_getTransactionReceipt', [transactionHash]);
    const position = all.findIndex((log) => log.logIndex === logIndex);
    const transactionId = transactionHash.slice(2);
    const at = Number(timestamp) * 1_000;
    const minedAt = firstMinedAt.get(transactionHash) ?? at;
    const sentFor = senders.get(transactionId) ?? null;
    arrived.push({ key: `${transactionId}-${position}`, wallet, units: BigInt(data), at, minedAt, sentFor });
  }
  return arrived;
}

/**
 * A transfer that is not seen live counts as up to this much later than its block says: the longest time between two polls of the watcher.
 */
export const LEEWAY_MS = 16_000;
/** A transfer within this time after a payment's creation may be a late one for the payment before. */
const HASTE_MS = 5_000;

/**
 * Compares payments on shared wallets with the chain by the rules only. The sender of each transfer is known here, so that no payment may be paid with
 * another customer's money. The rules leave one exception: a customer pays an ended payment so late that the next one of its amount has
 * waited for five seconds.
 * @returns a line for each payment that differs from the chain.
 */
export function disagreements(payments: readonly Payment[], arrived: readonly Arrived[]): string[] {
  const slots = Map.groupBy(payments, slotOf);
  const used = new Map<string, string>();
  return payments.flatMap((payment) => {
    const { payment_id: id, status } = payment;
    if (status === 'PENDING' || status === 'CHECKING') return [`${id} is still ${status}`];
    const slot = (slots.get(slotOf(payment)) ?? []).toSorted((a, b) => a.created_at.localeCompare(b.created_at));
    const certain = arrived.filter((one) => isCertain(payment, slot, one));
    if (status === 'PAID') return paidWrongly(payment, { arrived, certain, used });
    return certain.length === 0 ? [] : [`${id} is ${status} and was paid in time by ${certain[0]!.key}`];
  });
}

type Evidence = { arrived: readonly Arrived[]; certain: readonly Arrived[]; used: Map<string, string> };

function paidWrongly(payment: Payment, { arrived, certain, used }: Evidence): string[] {
  const { payment_id: id, transaction } = payment;
  if (transaction === null) return [`${id} is PAID by nothing`];
  const key = `${transaction.transaction_id}-${transaction.transaction_event_index}`;
  const broken: string[] = [];
  const other = used.get(key);
  if (other !== undefined) broken.push(`${key} pays both ${other} and ${id}`);
  used.set(key, id);
  const by = arrived.find((one) => one.key === key);
  if (by?.wallet !== payment.merchant_wallet)
    return [...broken, `${id} is PAID by ${key}, which did not go to its wallet`];
  if (transaction.accepted ? certain.length > 0 : !isPossible(payment, by))
    broken.push(`${id} is PAID by ${key}, and should be by ${certain.map((one) => one.key).join(' or ') || 'nothing'}`);
  else if (parseAmount(transaction.amount) !== by.units)
    broken.push(`${id} says that ${key} carried ${transaction.amount}; it carried ${formatUnits(by.units, 6)}`);
  const isStrangers = !transaction.accepted && by.sentFor !== null && by.sentFor !== id;
  // If a chain is ahead and is not read at once, only the block's time is left.
  if (isStrangers && Math.max(by.at, by.minedAt) < Date.parse(payment.created_at) + HASTE_MS - 1_000)
    broken.push(`${id} is PAID by ${key}, which the customer of ${by.sentFor} sent; ${timesOf(payment, by)}`);
  return broken;
}

/** The times that explain a failure. */
const timesOf = (
  { created_at: created, expires_at: expires, cancelled_at: cancelled }: Payment,
  one: Arrived,
): string =>
  `it waited from ${created} to ${cancelled ?? expires}, and the transfer came ${new Date(one.minedAt).toISOString()} ` +
  `in a block of ${new Date(one.at).toISOString()}`;

const slotOf = ({ merchant_wallet: wallet, amount }: Payment): string => `${wallet} ${parseAmount(amount)}`;

const isExact = (payment: Payment, { wallet, units }: Arrived): boolean =>
  wallet === payment.merchant_wallet && units === parseAmount(payment.amount);

/** Whether a transfer may pay a payment, by either clock and however late it was seen. */
function isPossible(payment: Payment, one: Arrived): boolean {
  const { from, to } = windowOf(payment);
  const [first, last] = [Math.min(one.at, one.minedAt), Math.max(one.at, one.minedAt) + LEEWAY_MS];
  return isExact(payment, one) && last >= from && first < to;
}

/**
 * Whether a transfer must pay a payment if nothing else does: it arrived in time by the chain's clock and by ours. If other payments of the
 * amount came before, it must not be in the first seconds, and no clock may be so wrong that another payment is possible.
 */
function isCertain(payment: Payment, slot: readonly Payment[], one: Arrived): boolean {
  const { from, to } = windowOf(payment);
  const position = slot.indexOf(payment);
  const next = slot[position + 1];
  const isFirst = position <= 0;
  const begin = isFirst ? from : from + HASTE_MS;
  const end = next === undefined ? to : Math.min(to, wholeSecond(next.created_at));
  const isIn = (time: number): boolean => time >= begin && time < end;
  const isPlain = (isFirst && next === undefined) || Math.abs(one.at - one.minedAt) <= HASTE_MS;
  return isExact(payment, one) && isIn(one.at) && isIn(one.minedAt) && isPlain;
}

export function windowOf(payment: Payment): { from: number; to: number } {
  const to = payment.cancelled_at === null ? Date.parse(payment.expires_at) : wholeSecond(payment.cancelled_at);
  return { from: wholeSecond(payment.created_at), to };
}

const wholeSecond = (time: string): number => Math.floor(Date.parse(time) / 1_000) * 1_000;
