import { id as keccakOfText, getAddress } from 'ethers';
import { formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/api/payment.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import type { MinedChain } from './chain.ts';

/** A transfer as the chain has it in the end, read with nothing of ours in between. */
export type Arrived = {
  /** Transaction id without 0x, a dash, and its place among the receipt's events. */
  key: string;
  /** With its check sum, as payments show it. */
  wallet: string;
  /** Millionths of a USDT. */
  units: bigint;
  /** Of its block, milliseconds since 1970. */
  at: number;
  /** When it was first in a block, by the machine's clock. */
  minedAt: number;
  /** The payment whose customer sent it; null where that is not known, because the answer to the sender was lost. */
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
 * @param senders by transaction id, the payment whose customer sent it.
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

/** What is not seen live counts as up to so much later than its block says; a look of the watcher comes this much after the one before. */
const LEEWAY_MS = 16_000;
/** Money that comes within this after a payment's creation may be a late payer's of the payment before. */
const HASTE_MS = 5_000;

/**
 * Holds payments against the chain by the rules alone. Which customer sent which transfer is known here, so that nobody may be paid with
 * another's money, but for the one doubt that the rules leave: who pays an ended payment so late that the next one of its amount has waited
 * for five seconds.
 * @returns a line for each payment that is not what the chain says.
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
    return [...broken, `${id} is PAID by ${key}, which did not come to its wallet`];
  if (transaction.accepted ? certain.length > 0 : !isPossible(payment, by))
    broken.push(`${id} is PAID by ${key}, and should be by ${certain.map((one) => one.key).join(' or ') || 'nothing'}`);
  else if (parseAmount(transaction.amount) !== by.units)
    broken.push(`${id} says that ${key} carried ${transaction.amount}; it carried ${formatUnits(by.units, 6)}`);
  const isStrangers = !transaction.accepted && by.sentFor !== null && by.sentFor !== id;
  // A chain that is ahead and is not read at once leaves nothing but the block's time.
  if (isStrangers && Math.max(by.at, by.minedAt) < Date.parse(payment.created_at) + HASTE_MS - 1_000)
    broken.push(`${id} is PAID by ${key}, which the customer of ${by.sentFor} sent; ${timesOf(payment, by)}`);
  return broken;
}

/** What a person needs to see why. */
const timesOf = (
  { created_at: created, expires_at: expires, cancelled_at: cancelled }: Payment,
  one: Arrived,
): string =>
  `it waited from ${created} to ${cancelled ?? expires}, and the transfer came ${new Date(one.minedAt).toISOString()} ` +
  `in a block of ${new Date(one.at).toISOString()}`;

const slotOf = ({ merchant_wallet: wallet, amount }: Payment): string => `${wallet} ${parseAmount(amount)}`;

const isExact = (payment: Payment, { wallet, units }: Arrived): boolean =>
  wallet === payment.merchant_wallet && units === parseAmount(payment.amount);

/** Whether a transfer may pay a payment, by whatever clock and however late it was seen. */
function isPossible(payment: Payment, one: Arrived): boolean {
  const { from, to } = windowOf(payment);
  const [first, last] = [Math.min(one.at, one.minedAt), Math.max(one.at, one.minedAt) + LEEWAY_MS];
  return isExact(payment, one) && last >= from && first < to;
}

/**
 * Whether a transfer must pay a payment if nothing else does: by the chain's clock and by ours it came in its time. Where other payments of the
 * amount came before, not in the first seconds, and not by a clock that is so wrong that another one may be meant.
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

function windowOf(payment: Payment): { from: number; to: number } {
  const to = payment.cancelled_at === null ? Date.parse(payment.expires_at) : wholeSecond(payment.cancelled_at);
  return { from: wholeSecond(payment.created_at), to };
}

const wholeSecond = (time: string): number => Math.floor(Date.parse(time) / 1_000) * 1_000;
