import type { PublicPayment } from '@quittance/contracts/api/payment.ts';
import { StackError } from './directory.ts';
import type { StackFile } from './stack-file.ts';

/** The token is the last segment of a link; the bare token is accepted too. @throws StackError for anything else. */
export function publicToken(link: string): string {
  const token =
    link
      .replace(/[?#].*$/, '')
      .split('/')
      .pop() ?? '';
  if (!/^[A-Za-z0-9_-]{43}$/.test(token))
    throw new StackError(`"${link}" is not a checkout link, which ends in 43 letters, digits, - or _.`);
  return token;
}

/** The public status that the token gives access to. @throws StackError when the stack does not run or has no such payment. */
export async function publicStatus(stack: StackFile, token: string): Promise<PublicPayment> {
  const url = `${stack.gateway_url}/api/v1/payments/${token}`;
  const answer = await fetch(url).catch(() => null);
  if (answer === null) throw new StackError(`The stack does not answer at ${stack.gateway_url}. Is it running?`);
  if (answer.status === 404) throw new StackError('There is no payment with this link here.');
  if (!answer.ok)
    throw new StackError(`The request for the payment's status was answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as PublicPayment;
}

/** @throws StackError for a payment on a network that does not run on this machine. */
export function requirePayable(stack: StackFile, { network }: PublicPayment): void {
  const networks = [stack.chain.network, ...(stack.tron === undefined ? [] : [stack.tron.network])];
  if (networks.includes(network)) return;
  throw new StackError(
    `This payment is on ${network}; only payments on ${networks.join(' or ')} can be paid from here.`,
  );
}
