import { parseAddress } from '@quittance/contracts/address.ts';
import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { ensureToken, tokenOwners } from '@quittance/local-backends/token/token.ts';
import { StackError } from './directory.ts';
import type { StackFile } from './stack-file.ts';

type Mined = { transactionHash: string; blockNumber: number };

/**
 * Sends test USDT from the customer's account and waits until the transaction is in a block. A wallet in Tron's spelling gets the Tron
 * network's USDT, which is on the same chain.
 * @param amount decimal text, as in a payment.
 * @returns the transaction's hash (0x…) and its block.
 */
export async function payOnChain(chain: StackFile['chain'], recipient: string, amount: string): Promise<Mined> {
  const amountUnits = parseAmount(amount);
  if (amountUnits === null)
    throw new StackError(`"${amount}" is not an amount. Write it like 9.99, greater than zero.`);
  return transferOnChain(chain, recipient, [amountUnits]);
}

/** Several transfers in one transaction. @param amounts in millionths of a USDT. */
export async function transferOnChain(
  chain: StackFile['chain'],
  recipient: string,
  amounts: readonly bigint[],
): Promise<Mined> {
  const wallet = parseAddress(recipient);
  if (wallet === null) throw new StackError(`"${recipient}" is not a wallet.`);
  const owner = wallet.family === 'tron' ? tokenOwners.tron : tokenOwners.local;
  const token = await ensureToken(chain.rpc_url, { owner });
  const transfers = amounts.map((amount) => ({ to: wallet.hex, units: toTokenUnits(amount, token.decimals) }));
  const [first, ...more] = transfers;
  const isOne = first !== undefined && more.length === 0;
  const transactionHash = await (isOne ? token.pay(first.to, first.units) : token.payBatch(transfers));
  const receipt = await rpc<{ blockNumber: string }>(chain.rpc_url, 'eth_getTransactionReceipt', [transactionHash]);
  return { transactionHash, blockNumber: Number(receipt.blockNumber) };
}
