import { parseAmount, toTokenUnits } from '@quittance/contracts/amount.ts';
import type { Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/payment.ts';

/**
 * What a wallet app may open or scan to fill in the payment. A choice beside the bare address, never its replacement: no format of
 * either family is read rightly by every wallet.
 *
 * EVM: a token transfer by EIP-681 (https://eips.ethereum.org/EIPS/eip-681), `ethereum:<token>@<chain>/transfer?address=<recipient>&uint256=<base units>`.
 * Wallets that follow it, such as MetaMask and OneKey, take token, chain, recipient and amount from it. Trust Wallet takes the recipient
 * alone (https://github.com/trustwallet/wallet-core/issues/4651), imToken has a form of its own, and MyEtherWallet has sent the money to
 * the token, which stands first (https://github.com/MyEtherWallet/MyEtherWallet/issues/5185): whoever shows the link must ask for a
 * look at the recipient. Plain digits, although the EIP likes `1e6`: some readers knew no exponent and then went through a
 * floating-point number for it (https://github.com/peanutprotocol/peanut-ui/pull/1097). No `value`, which a wallet has taken for the
 * amount of tokens (https://github.com/OneKeyHQ/app-monorepo/pull/11869), no gas, no label.
 *
 * Tron: the address alone. No standard says how to ask for a TRC-20 token (TIP-17, sometimes named as one, is about energy), and of an
 * `amount` there is neither agreement on the unit, TRX or its millionth (https://github.com/tronscan/tronscan-frontend/issues/422), nor
 * on a word for the token: a wallet that understands it may fill in TRX. TronLink even refused the scheme where it asks for a recipient
 * (https://github.com/btcpayserver-tether/BTCPayServer.Plugins.USDt/pull/46).
 *
 * @throws RangeError for an amount that no payment can have.
 */
export function paymentLink(payment: Pick<PublicPayment, 'amount' | 'merchant_wallet'>, network: Network): string {
  if (network.family === 'tron') return `tron:${payment.merchant_wallet}`;
  const amountUnits = parseAmount(payment.amount);
  if (amountUnits === null) throw new RangeError(`not an amount: ${payment.amount}`);
  const tokenUnits = toTokenUnits(amountUnits, network.decimals);
  return `ethereum:${network.usdt_contract}@${network.chain_id}/transfer?address=${payment.merchant_wallet}&uint256=${tokenUnits}`;
}
