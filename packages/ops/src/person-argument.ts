import { InvalidArgumentError } from 'commander';
import { OPERATOR_NAME } from '@quittance/contracts/operator.ts';

/** The name of an operator, or of a merchant's person. */
export function personArgument(text: string): string {
  if (new RegExp(OPERATOR_NAME).test(text)) return text;
  throw new InvalidArgumentError('expected 2 to 40 of a-z, 0-9, dot, hyphen and underscore, the first a letter.');
}
