import type { Payment, Price } from '@quittance/sdk';

/** What a payment asks for. */
export type Asked = { amount: string; price?: never } | { price: Price; amount?: never };

/** @param precision the decimals of Vendure's amounts, which are integers. @param usdtCurrency as in the options. */
export type Money = { precision: number; usdtCurrency: string | undefined };

/** An amount of Vendure in the words of Quittance, with no more decimals than its currency has. */
export function askedFor(amount: number, currencyCode: string, { precision, usdtCurrency }: Money): Asked {
  if (currencyCode === usdtCurrency) return { amount: decimalText(amount, precision, 2) };
  const currency = currencyCode as Price['currency'];
  const { maximumFractionDigits = 2 } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
  return { price: { amount: decimalText(amount, precision, maximumFractionDigits), currency } };
}

/** Whether a payment asks for the same. */
export const asksFor = ({ price, requested_amount }: Payment, asked: Asked): boolean =>
  asked.price === undefined
    ? price === null && requested_amount === asked.amount
    : price?.amount === asked.price.amount && price.currency === asked.price.currency;

/**
 * What a payment asked for, as an amount of Vendure; null if it is in another currency.
 * @param due what the order still owes. It has more decimals than the currency where Vendure calculated taxes so.
 */
export function paidAmount(payment: Payment, due: number, currencyCode: string, money: Money): number | null {
  if (asksFor(payment, askedFor(due, currencyCode, money))) return due;
  const isSame = payment.price === null ? currencyCode === money.usdtCurrency : payment.price.currency === currencyCode;
  if (!isSame) return null;
  const [whole = '0', fraction = ''] = (payment.price?.amount ?? payment.requested_amount).split('.');
  return Number(BigInt(whole + fraction.padEnd(money.precision, '0').slice(0, money.precision)));
}

/** Rounds half up. @param amount not negative. */
function decimalText(amount: number, precision: number, decimals: number): string {
  const scale = 10n ** BigInt(Math.max(0, precision - decimals));
  const rounded = (BigInt(amount) + scale / 2n) / scale;
  const digits = Math.min(precision, decimals);
  const text = rounded.toString().padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}
