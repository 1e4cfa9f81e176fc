import type { Network } from '@quittance/contracts/networks.ts';
import type { PublicPayment } from '@quittance/contracts/api/payment.ts';

/**
 * What a wallet app may open or scan to fill in the payment. A choice beside the bare address, never its replacement: no format of
 * either family is read rightly by every wallet.
 *
 * EVM: a token transfer by EIP-681 (https://eips.ethereum.org/EIPS/eip-681). Trust Wallet takes the recipient alone
 * (https://github.com/trustwallet/wallet-core/issues/4651), and MyEtherWallet has sent the money to the token, which stands first
 * (https://github.com/MyEtherWallet/MyEtherWallet/issues/5185): the page asks for a look at the recipient. Plain digits, although the
 * EIP likes `1e6`, which some readers cannot read (https://github.com/peanutprotocol/peanut-ui/pull/1097). No `value`, which a wallet
 * has taken for the amount of tokens (https://github.com/OneKeyHQ/app-monorepo/pull/11869), no gas, no label.
 *
 * Tron: the address alone. No standard says how to ask for a TRC-20 token, and of an `amount` there is neither agreement on the unit
 * (https://github.com/tronscan/tronscan-frontend/issues/422) nor on a word for the token: a wallet may fill in TRX.
 *
 * @param payment its amount may have as many decimals as the token: what is missing after a part has.
 * @throws RangeError for an amount that no transfer can have.
 */
export function paymentLink(payment: Pick<PublicPayment, 'amount' | 'merchant_wallet'>, network: Network): string {
  if (network.family === 'tron') return `tron:${payment.merchant_wallet}`;
  const tokenUnits = tokenUnitsOf(payment.amount, network);
  return `ethereum:${network.usdt_contract}@${network.chain_id}/transfer?address=${payment.merchant_wallet}&uint256=${tokenUnits}`;
}

/**
 * What a transfer of this amount carries, in the token's base units.
 * @throws RangeError for an amount that no transfer can have.
 */
export function tokenUnitsOf(amount: string, { decimals }: Pick<Network, 'decimals'>): bigint {
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const units = fraction.length > decimals ? 0n : BigInt(whole + fraction.padEnd(decimals, '0'));
  if (units === 0n) throw new RangeError(`not an amount: ${amount}`);
  return units;
}
