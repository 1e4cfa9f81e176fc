import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import { rpc } from '@quittance/local-backends/rpc.ts';
import { ensureToken } from '@quittance/local-backends/token/token.ts';
import { StackError } from './directory.ts';
import type { StackFile } from './stack-file.ts';

/**
 * Sends test USDT from the customer's account and waits until the transaction is in a block.
 * @param amount decimal text, as in a payment.
 * @returns the transaction's hash (0x…) and its block.
 */
export async function payOnChain(
  chain: StackFile['chain'],
  recipient: string,
  amount: string,
): Promise<{ transactionHash: string; blockNumber: number }> {
  const amountUnits = parseAmount(amount);
  if (amountUnits === null) throw new StackError(`"${amount}" is no amount: give it like 9.99, greater than zero.`);
  const token = await ensureToken(chain.rpc_url);
  const transactionHash = await token.pay(recipient, toTokenUnits(amountUnits, token.decimals));
  const receipt = await rpc<{ blockNumber: string }>(chain.rpc_url, 'eth_getTransactionReceipt', [transactionHash]);
  return { transactionHash, blockNumber: Number(receipt.blockNumber) };
}
