import { Option, type Command } from 'commander';
import { stringify } from 'csv-stringify/sync';
import { csvOptions } from '@quittance/contracts/csv.ts';
import {
  ReadReport,
  reportGroups,
  reportTimes,
  type Report,
  type ReportGroup,
  type ReportTime,
} from '@quittance/contracts/http/payments/report.ts';
import { dayArgument, idArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { printResult } from '../output.ts';
import { table } from '../text.ts';

type ReportOptions = JsonOption & { from: string; to: string; group: ReportGroup; by: ReportTime; csv?: boolean };

/** The totals of a merchant's payments. */
export function merchantReportCommand(merchant: Command, { api }: Ops): void {
  reads(merchant.command('report'))
    .description('payments created, paid, expired and cancelled by UTC day or month and network, and what was paid')
    .argument('<merchant>', 'merchant id', idArgument('mer'))
    .requiredOption('--from <day>', 'the first day', dayArgument)
    .requiredOption('--to <day>', 'the last day, included', dayArgument)
    .addOption(new Option('--group <period>', 'what a row is about').choices(reportGroups).default('day'))
    .addOption(
      new Option('--by <day>', 'when a payment counts as paid: the day it was PAID, or the day of its block')
        .choices(reportTimes)
        .default('payment'),
    )
    .option('--csv', 'print CSV instead of a table')
    .action(async (id: string, { from, to, group, by, ...options }: ReportOptions) => {
      const report = await api.call(ReadReport, { params: { merchant_id: id }, query: { from, to, group, by } });
      if (options.csv && !options.json) process.stdout.write(reportCsv(report));
      else printResult(report, options, reportView);
    });
}

export const reportCsv = ({ rows }: Report): string =>
  stringify(rows, {
    header: true,
    columns: ['period', 'network', 'created', 'paid', 'paid_amount', 'expired', 'cancelled'],
    ...csvOptions,
  });

const reportView = ({ rows, totals }: Report): string =>
  rows.length === 0
    ? table(rows, {})
    : table([...rows, { period: 'all', network: '', ...totals }], {
        period: 'period',
        network: 'network',
        created: 'created',
        paid: 'paid',
        'paid (USDT)': 'paid_amount',
        expired: 'expired',
        cancelled: 'cancelled',
      });
