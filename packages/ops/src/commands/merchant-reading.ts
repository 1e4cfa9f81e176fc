import type { Command } from 'commander';
import { whatAnswers, type Api } from '../api.ts';
import { readAudit } from '../audit.ts';
import { dayArgument, idArgument, momentArgument, reads } from '../command.ts';
import type { JsonOption, Ops } from '../command.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { auditView } from '../views/audit.ts';
import { merchantsView, usageView, wholeMerchantView } from '../views/merchant.ts';
import type { Account, EnforcedPolicy, WholeMerchant } from '../views/merchant.ts';

const merchantId = idArgument('mer');

/** A list that is this long may go on. */
const PAGE = 100;

type PageOptions = JsonOption & { before?: string };

const beforeQuery = ({ before }: PageOptions): Record<string, string> => (before === undefined ? {} : { before });

/** What can be seen of merchants. */
export function merchantReadingCommands(merchant: Command, ops: Ops): void {
  list(merchant, ops);
  show(merchant, ops);
  audit(merchant, ops);
  usage(merchant, ops);
}

function list(merchant: Command, { api }: Ops): void {
  reads(merchant.command('list'))
    .description('the newest hundred merchants')
    .option('--before <merchant>', 'go on after this one, the last of the page before', merchantId)
    .action(async (options: PageOptions) => {
      const request = { method: 'GET', path: '/merchants', query: beforeQuery(options) } as const;
      const page = (await api.call('api-gateway', request)) as { merchants: Account[] };
      printResult(page, options, merchantsView);
      const last = page.merchants.at(PAGE - 1);
      if (last !== undefined) note(`There may be older ones: merchant list --before ${last.merchant_id}`, options);
    });
}

function show(merchant: Command, { api }: Ops): void {
  reads(merchant.command('show'))
    .description('account, policy, and what payments enforces and has counted')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption) => {
      const gate = api.find('payments', `/merchants/${id}/gate`) as Promise<EnforcedPolicy | null>;
      const { answers, silent } = await whatAnswers({
        merchant: api.call('api-gateway', { method: 'GET', path: `/merchants/${id}` }),
        // Null until the registration has reached them.
        policy: api.find('quota', `/merchants/${id}/policy`),
        gate,
        limits: gate.then((known) => (known === null ? null : api.find('payments', `/merchants/${id}/limits`))),
      });
      if (Object.keys(answers).length > 0) printResult(answers as WholeMerchant, options, wholeMerchantView);
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
      const page = await usageOf(api, id, options);
      printResult(page, options, usageView);
      const last = page.days.at(PAGE - 1);
      if (last !== undefined) note(`There may be older ones: merchant usage ${id} --before ${last.day}`, options);
    });
}

async function usageOf(api: Api, id: string, options: PageOptions) {
  const request = { method: 'GET', path: `/merchants/${id}/usage`, query: beforeQuery(options) } as const;
  return (await api.call('quota', request)) as { days: { day: string; payments_created: number }[] };
}

/** What the others said is shown; what is missing must not look like nothing. One service may have been asked twice. */
function failIfSilent(silent: readonly string[]): void {
  if (silent.length > 0) throw new Failure('unreachable', [...new Set(silent)].join('\n'));
}
