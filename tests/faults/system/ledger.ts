import { id as keccakOfText, getAddress } from 'ethers';
import { formatUnits, parseAmount } from '@quittance/contracts/amount.ts';
import type { Payment } from '@quittance/contracts/payment.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';

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
};

type Log = {
  topics: [string, string, string];
  data: string;
  transactionHash: string;
  blockNumber: string;
  logIndex: string;
};
type Receipt = { logs: { logIndex: string }[] };

/** Every transfer of the token to one of these wallets, oldest first. */
export async function arrivedOn(rpcUrl: string, token: string, wallets: readonly string[]): Promise<Arrived[]> {
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
    const key = `${transactionHash.slice(2)}-${position}`;
    arrived.push({ key, wallet, units: BigInt(data), at: Number(timestamp) * 1_000 });
  }
  return arrived;
}

/** A block's time may be that much before a payment that it pays all the same. */
const LEEWAY_MS = 15_000;

/**
 * Holds payments against the chain by the rule alone: a transfer of exactly the amount, in a block whose time lies in the payment's
 * window, pays it. Each of these payments has an amount of its own on its wallet.
 * @returns a line for each payment that is not what the chain says.
 */
export function disagreements(payments: readonly Payment[], arrived: readonly Arrived[]): string[] {
  const broken: string[] = [];
  const used = new Map<string, string>();
  for (const payment of payments) {
    const { payment_id: id, status, transaction } = payment;
    const fitting = arrived.filter((one) => pays(payment, one));
    const key = transaction && `${transaction.transaction_id}-${transaction.transaction_event_index}`;
    if (status === 'PENDING' || status === 'CHECKING') broken.push(`${id} is still ${status}`);
    if (status !== 'PAID') {
      if (fitting.length > 0) broken.push(`${id} is ${status} and was paid in time by ${fitting[0]!.key}`);
      continue;
    }
    if (key === null) {
      broken.push(`${id} is PAID by nothing`);
      continue;
    }
    const other = used.get(key);
    if (other !== undefined) broken.push(`${key} pays both ${other} and ${id}`);
    used.set(key, id);
    const by = arrived.find((one) => one.key === key);
    if (by?.wallet !== payment.merchant_wallet)
      broken.push(`${id} is PAID by ${key}, which did not come to its wallet`);
    else if (transaction!.accepted ? fitting.length > 0 : !fitting.includes(by))
      broken.push(
        `${id} is PAID by ${key}, and should be by ${fitting.map((one) => one.key).join(' or ') || 'nothing'}`,
      );
    else if (parseAmount(transaction!.amount) !== by.units)
      broken.push(`${id} says that ${key} carried ${transaction!.amount}; it carried ${formatUnits(by.units, 6)}`);
  }
  return broken;
}

function pays(payment: Payment, { wallet, units, at }: Arrived): boolean {
  const from = wholeSecond(payment.created_at) - LEEWAY_MS;
  const to = payment.cancelled_at === null ? Date.parse(payment.expires_at) : wholeSecond(payment.cancelled_at);
  return wallet === payment.merchant_wallet && units === parseAmount(payment.amount) && at > from && at < to;
}

const wholeSecond = (time: string): number => Math.floor(Date.parse(time) / 1_000) * 1_000;
