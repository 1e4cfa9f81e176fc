import { formatUnits } from '@quittance/contracts/amount.ts';

/** Exact. @param amounts decimal texts. @returns their sum, without zeros at its end. */
export function sumOfAmounts(amounts: readonly string[]): string {
  const decimals = Math.max(0, ...amounts.map((amount) => fractionOf(amount).length));
  const units = amounts.map((amount) => {
    const [whole = '0'] = amount.split('.');
    return BigInt(whole + fractionOf(amount).padEnd(decimals, '0'));
  });
  return formatUnits(
    units.reduce((total, one) => total + one, 0n),
    decimals,
  );
}

const fractionOf = (amount: string): string => amount.split('.')[1] ?? '';
