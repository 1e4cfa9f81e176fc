import type { Command } from 'commander';
import { ListMerchants, ReadMerchant } from '@quittance/contracts/http/api-gateway/merchants.ts';
import { ReadGate, ReadLimits } from '@quittance/contracts/http/payments/limits.ts';
import { ReadUsage } from '@quittance/contracts/http/quota/history.ts';
import { ReadPolicy } from '@quittance/contracts/http/quota/policy.ts';
import { whatAnswers } from '../api.ts';
import { auditView, readAudit } from '../audit.ts';
import { dayArgument, idArgument, momentArgument, reads, type JsonOption, type Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { note, noteOlder, printResult } from '../output.ts';
import { merchantReportCommand } from './merchant-report.ts';
import { merchantsView, usageView, wholeMerchantView } from '../views/merchant.ts';

const merchantId = idArgument('mer');

type PageOptions = JsonOption & { before?: string };

/** What can be seen of merchants. */
export function merchantReadingCommands(merchant: Command, ops: Ops): void {
  list(merchant, ops);
  find(merchant, ops);
  show(merchant, ops);
  audit(merchant, ops);
  usage(merchant, ops);
  merchantReportCommand(merchant, ops);
}

function list(merchant: Command, { api }: Ops): void {
  reads(merchant.command('list'))
    .description('the newest hundred merchants')
    .option('--before <merchant>', 'go on after this one, the last of the page before', merchantId)
    .action(async (options: PageOptions) => {
      const page = await api.call(ListMerchants, { query: { before: options.before } });
      printResult(page, options, merchantsView);
      noteOlder(page.merchants, options, (last) => `merchant list --before ${last.merchant_id}`);
    });
}

function find(merchant: Command, { api }: Ops): void {
  reads(merchant.command('find'))
    .description('merchants by a part of their name or of the name that customers see, newest first, a hundred at most')
    .argument('<text>', 'a part of the name, in upper or lower case')
    .option('--before <merchant>', 'go on after this one, the last of the page before', merchantId)
    .action(async (text: string, options: PageOptions) => {
      const page = await api.call(ListMerchants, { query: { before: options.before, name: text } });
      printResult(page, options, merchantsView);
      noteOlder(page.merchants, options, (last) => `merchant find ${text} --before ${last.merchant_id}`);
    });
}

function show(merchant: Command, { api }: Ops): void {
  reads(merchant.command('show'))
    .description('account, policy, and what payments enforces and has counted')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption) => {
      const given = { params: { merchant_id: id } };
      const gate = api.find(ReadGate, given);
      const limits = gate.then((known) => (known === null ? null : api.find(ReadLimits, given)));
      const { answers, silent } = await whatAnswers({
        merchant: api.call(ReadMerchant, given),
        // Null until the registration has reached them.
        policy: api.find(ReadPolicy, given),
        gate,
        limits,
      });
      if (Object.keys(answers).length > 0) printResult(answers, options, wholeMerchantView);
      failIfSilent(silent);
    });
}

function audit(merchant: Command, { api }: Ops): void {
  reads(merchant.command('audit'))
    .description('who did what to the account, its policy, webhook and wallets, when and why; newest first')
    .argument('<merchant>', 'merchant id', merchantId)
    .option('--before <time>', 'only what was done before this moment', momentArgument)
    .action(async (id: string, options: PageOptions) => {
      const { silent, ...page } = await readAudit(api, id, options.before);
      if (silent.length < 4) printResult(page, options, auditView);
      if (page.next_before !== null)
        note(`There may be more: merchant audit ${id} --before ${page.next_before}`, options);
      failIfSilent(silent);
    });
}

function usage(merchant: Command, { api }: Ops): void {
  reads(merchant.command('usage'))
    .description('payments created on each UTC day, newest first, days without one left out')
    .argument('<merchant>', 'merchant id', merchantId)
    .option('--before <day>', 'go on before this day, the last of the page before', dayArgument)
    .action(async (id: string, options: PageOptions) => {
      const page = await api.call(ReadUsage, { params: { merchant_id: id }, query: { before: options.before } });
      printResult(page, options, usageView);
      noteOlder(page.days, options, (last) => `merchant usage ${id} --before ${last.day}`);
    });
}

/** The answers are shown; what is missing must not look like nothing. One service may have been asked twice. */
function failIfSilent(silent: readonly string[]): void {
  if (silent.length > 0) throw new Failure('unreachable', [...new Set(silent)].join('\n'));
}
