import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { publicStatus, publicToken, requirePayable } from '../stack/checkout-link.ts';
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
    .option('--amount <amount>', 'pay this amount instead of the payment’s')
    .option('--wait', 'wait until the payment is PAID')
    .allowExcessArguments(false)
    .parse();
  const { amount, wait } = program.opts<{ amount?: string; wait?: boolean }>();
  const stack = await readStackFile(stackDirectory());
  const token = publicToken(program.args[0] ?? '');
  const payment = await publicStatus(stack, token);
  requirePayable(stack, payment);
  const sent = amount ?? payment.amount;
  const { transactionHash, blockNumber } = await payOnChain(stack.chain, payment.merchant_wallet, sent);
  console.log(
    `Sent ${sent} USDT to ${payment.merchant_wallet}: transaction ${transactionHash} in block ${blockNumber}.`,
  );
  if (wait === true) await untilPaid(stack, token);
});

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
