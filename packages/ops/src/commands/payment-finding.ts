import { once } from 'node:events';
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  ExportPayments,
  FindPayments,
  paymentQueryOf,
  type FoundPayment,
} from '@quittance/contracts/http/payments/finding.ts';
import { ListPayments } from '@quittance/contracts/http/payments/payments.ts';
import { paymentStatuses, type Payment, type PaymentStatus } from '@quittance/contracts/api/payment.ts';
import type { Api } from '../api.ts';
import { idArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { note, PAGE, printResult } from '../output.ts';
import { table, type Columns } from '../text.ts';
import { timeArgument } from '../time-argument.ts';

type ListOptions = JsonOption & {
  merchant: string;
  status?: PaymentStatus;
  from?: string;
  to?: string;
  cursor?: string;
  csv?: boolean;
};

/** Payments by what is known of them. */
export function paymentFindingCommands(payment: Command, { api }: Ops): void {
  reads(payment.command('find'))
    .description('payments of any merchant by whatever names them')
    .argument('<what>', 'payment id, checkout link or its token, order id, reference, transaction id or wallet')
    .action(async (what: string, options: JsonOption) => {
      const found = await api.call(FindPayments, { query: soughtOf(what.trim()) });
      printResult(found, options, ({ payments }) => table(payments, foundColumns));
      const [only, ...others] = found.payments;
      if (only !== undefined && others.length === 0)
        note(`All there is of it: payment show ${only.payment_id}`, options);
    });

  reads(payment.command('list'))
    .description("a merchant's payments, the newest hundred; with --csv all of them, oldest first")
    .requiredOption('--merchant <merchant>', 'whose payments', idArgument('mer'))
    .addOption(new Option('--status <status>', 'only these').choices(paymentStatuses))
    .option('--from <time>', 'created at this UTC day or time, or later', timeArgument('start'))
    .option('--to <time>', 'created on this UTC day or before it, or before this time', timeArgument('end'))
    .option('--cursor <cursor>', 'go on after the page before')
    .option('--csv', 'print all as CSV, as the merchant would get it')
    .action(list(api));
}

const list =
  (api: Api) =>
  async (options: ListOptions): Promise<void> => {
    const { merchant, status, from, to, cursor } = options;
    const given = { params: { merchant_id: merchant }, query: { status, created_from: from, created_to: to } };
    if (options.csv) {
      if (options.json) throw new Failure('wrongUse', 'Either --csv or --json: --json has a page of a hundred.');
      await printStream(await api.stream(ExportPayments, given));
      return;
    }
    const page = await api.call(ListPayments, { ...given, query: { ...given.query, cursor, limit: PAGE } });
    printResult(page, options, ({ payments }) => table(payments, columns));
    if (page.next_cursor !== null) note(`There are more: add --cursor ${page.next_cursor}, or --csv for all`, options);
  };

function soughtOf(text: string) {
  const sought = paymentQueryOf(text);
  if (sought !== null) return sought;
  throw new InvalidArgumentError(
    'expected a payment id, a checkout link, an order id, a reference, a transaction id or a wallet.',
  );
}

/** @throws Failure when the stream breaks: what was printed looks whole and is not. */
async function printStream(body: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const chunk of body) {
      // A reader of only the beginning has what it wanted.
      if (process.stdout.destroyed) return;
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return;
    const why = error instanceof Error ? error.message : String(error);
    throw new Failure('unreachable', `payments broke the export off (${why}): what was printed is not all of it.`);
  }
}

const columns: Columns<Payment> = {
  payment: 'payment_id',
  status: 'status',
  amount: 'amount',
  network: 'network',
  created: 'created_at',
  paid: 'paid_at',
  order: 'order_id',
  reference: 'reference',
};

const foundColumns: Columns<FoundPayment> = {
  payment: 'payment_id',
  merchant: 'merchant_id',
  status: 'status',
  amount: 'amount',
  network: 'network',
  created: 'created_at',
  order: 'order_id',
  'found by': ({ found_by: by }) => by.replaceAll('_', ' '),
};
