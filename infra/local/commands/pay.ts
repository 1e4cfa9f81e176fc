import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { PublicPayment } from '@quittance/contracts/payment.ts';
import { command } from '../stack/command.ts';
import { stackDirectory, StackError } from '../stack/directory.ts';
import { payOnChain } from '../stack/pay.ts';
import { readStackFile, type StackFile } from '../stack/stack-file.ts';

const pollMs = 500;
const patienceMs = 120_000;

await command(async () => {
  const program = new Command('npm run pay --')
    .description('Pays on the local chain as a customer would.')
    .argument('<payment_url>', 'the checkout link')
    .option('--amount <amount>', 'another amount than the one asked for')
    .option('--wait', 'wait until the payment is PAID')
    .allowExcessArguments(false)
    .parse();
  const { amount, wait } = program.opts<{ amount?: string; wait?: boolean }>();
  const stack = await readStackFile(stackDirectory());
  const token = publicToken(program.args[0] ?? '');
  const payment = await publicStatus(stack, token);
  const networks = [stack.chain.network, ...(stack.tron === undefined ? [] : [stack.tron.network])];
  if (!networks.includes(payment.network)) {
    throw new StackError(
      `This payment is on ${payment.network}; only payments on ${networks.join(' or ')} can be paid from here.`,
    );
  }
  const sent = amount ?? payment.amount;
  const { transactionHash, blockNumber } = await payOnChain(stack.chain, payment.merchant_wallet, sent);
  console.log(
    `Sent ${sent} USDT to ${payment.merchant_wallet}: transaction ${transactionHash} in block ${blockNumber}.`,
  );
  if (wait === true) await untilPaid(stack, token);
});

/** A link has the token as its last segment; the bare token does as well. */
function publicToken(link: string): string {
  const token =
    link
      .replace(/[?#].*$/, '')
      .split('/')
      .pop() ?? '';
  if (!/^[A-Za-z0-9_-]{43}$/.test(token))
    throw new StackError(`"${link}" is no checkout link: it ends in 43 letters, digits, - or _.`);
  return token;
}

async function publicStatus(stack: StackFile, token: string): Promise<PublicPayment> {
  const url = `${stack.gateway_url}/api/v1/payments/${token}`;
  const answer = await fetch(url).catch(() => null);
  if (answer === null) throw new StackError(`The stack does not answer at ${stack.gateway_url}. Is it running?`);
  if (answer.status === 404) throw new StackError('There is no payment with this link here.');
  if (!answer.ok)
    throw new StackError(`Asking for the payment's status was answered ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as PublicPayment;
}

async function untilPaid(stack: StackFile, token: string): Promise<void> {
  const deadline = Date.now() + patienceMs;
  let last = '';
  while (last !== 'PAID') {
    if (Date.now() > deadline) throw new StackError(`Not PAID after ${patienceMs / 1_000} s; the status is ${last}.`);
    const { status } = await publicStatus(stack, token);
    if (status !== last) console.log(`status ${status}`);
    last = status;
    await delay(pollMs);
  }
}
