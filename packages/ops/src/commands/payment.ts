import type { Command } from 'commander';
import { ReadPayment } from '@quittance/contracts/http/payments/payments.ts';
import { idArgument, reads } from '../command.ts';
import type { JsonOption, Ops } from '../command.ts';
import { printResult } from '../output.ts';
import { paymentView } from '../views/payment.ts';

export function paymentCommands(program: Command, { api }: Ops): void {
  const payment = program.command('payment').description('look at payments');
  reads(payment.command('show'))
    .description('everything known about a payment, whoever it belongs to')
    .argument('<payment>', 'payment id', idArgument('pay'))
    .action(async (id: string, options: JsonOption) => {
      printResult(await api.call(ReadPayment, { params: { payment_id: id } }), options, paymentView);
    });
}
