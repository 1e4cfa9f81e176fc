import type { Command } from 'commander';
import { idArgument, reads } from '../command.ts';
import type { JsonOption, Ops } from '../command.ts';
import { printResult } from '../output.ts';
import { paymentView, type OperatorsPayment } from '../views/payment.ts';

export function paymentCommands(program: Command, { api }: Ops): void {
  const payment = program.command('payment').description('look at payments');
  reads(payment.command('show'))
    .description('everything known about a payment, whoever it belongs to')
    .argument('<payment>', 'payment id', idArgument('pay'))
    .action(async (id: string, options: JsonOption) => {
      const found = await api.call('payments', { method: 'GET', path: `/payments/${id}` });
      printResult(found as OperatorsPayment, options, paymentView);
    });
}
