import { Option } from 'commander';
import type { Command } from 'commander';
import { whatAnswers } from '../api.ts';
import { asks, authorOf, changes, count, countOrNone, idArgument, reads, waits } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops, WaitOption, YesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { printResult } from '../output.ts';
import { waitForGate, waitForPolicy, type Gate } from '../wait.ts';

type LimitOptions = { total?: number; daily?: number | 'none' };
type CreateOptions = JsonOption &
  AuthorOptions &
  WaitOption &
  LimitOptions & { name: string; access: string; days?: number };

const merchantId = idArgument('mer');

export function merchantCommands(program: Command, ops: Ops): void {
  const merchant = program.command('merchant').description('register merchants and decide what they may do');
  registration(merchant, ops);
  reading(merchant, ops);
  policy(merchant, ops);
  account(merchant, ops);
}

function registration(merchant: Command, { api, config }: Ops): void {
  withLimits(waits(merchant.command('create')))
    .description(
      'register a merchant; its credentials are shown this once. A beta has 100 payments, 10 a day, for 30 days',
    )
    .requiredOption('--name <name>', 'as operators see it')
    .addOption(new Option('--access <type>', 'kind of access').choices(['beta', 'legacy']).default('beta'))
    .option('--days <n>', 'how long a beta lasts from its activation', count)
    .action(async (options: CreateOptions) => {
      const body = {
        name: options.name,
        access_type: options.access,
        ...limitsOf(options),
        ...(options.days === undefined ? {} : { beta_duration_days: options.days }),
        ...authorOf(options, config),
      };
      const created = (await api.call('api-gateway', { method: 'POST', path: '/merchants', json: body })) as {
        merchant_id: string;
      };
      // Before the wait, which may fail: nobody can show these credentials again.
      printResult(created, options);
      await waitForPolicy(api, created.merchant_id, { seconds: options.wait });
    });
}

function reading(merchant: Command, { api }: Ops): void {
  reads(merchant.command('list'))
    .description('the newest hundred merchants')
    .option('--before <merchant>', 'go on after this one, the last of the page before', merchantId)
    .action(async (options: JsonOption & { before?: string }) => {
      const query = options.before === undefined ? {} : { before: options.before };
      printResult(await api.call('api-gateway', { method: 'GET', path: '/merchants', query }), options);
    });
  reads(merchant.command('show'))
    .description('account, policy, and what payments enforces and has counted')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption) => {
      const { answers, silent } = await whatAnswers({
        merchant: api.call('api-gateway', { method: 'GET', path: `/merchants/${id}` }),
        // Null until the registration has reached them.
        policy: api.find('quota', `/merchants/${id}/policy`),
        gate: api.find('payments', `/merchants/${id}/gate`),
      });
      if (Object.keys(answers).length > 0) printResult(answers, options);
      if (silent.length > 0) throw new Failure('unreachable', silent.join('\n'));
    });
}

function policy(merchant: Command, ops: Ops): void {
  policyCommand(changes(merchant.command('activate')), ops, {
    about: 'start the beta, once the credentials have arrived',
  });
  policyCommand(changes(merchant.command('extend')).requiredOption('--days <n>', 'how many more', count), ops, {
    about: 'let the beta last longer; usage stays',
    body: ({ days }) => ({ days }),
  });
  // A limit may go up or down, and only the services know from where: waiting is right for both.
  policyCommand(withLimits(waits(merchant.command('set-limits'))), ops, {
    about: 'set one limit or both',
    path: 'limits',
    body: (options) => {
      const limits = limitsOf(options);
      if (Object.keys(limits).length === 0) throw new Failure('wrongUse', 'Give --total, --daily or both.');
      return limits;
    },
  });
  policyCommand(waits(merchant.command('pause')), ops, { about: 'stop new payments; everything else goes on' });
  policyCommand(changes(merchant.command('resume')), ops, { about: 'allow new payments again' });
}

type PolicyOptions = JsonOption & AuthorOptions & Partial<WaitOption> & LimitOptions & { days?: number };

/** A command that changes the policy in quota and shows the policy then in force. One that `waits` ends when payments enforces it. */
function policyCommand(
  command: Command,
  { api, config }: Ops,
  change: { about: string; path?: string; body?: (options: PolicyOptions) => object },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: PolicyOptions) => {
      const path = `/merchants/${id}/${change.path ?? command.name()}`;
      const json = { ...change.body?.(options), ...authorOf(options, config) };
      const changed = (await api.call('quota', { method: 'POST', path, json })) as { policy_version: number };
      if (options.wait !== undefined) {
        const applied = (gate: Gate) => gate.policy_version >= changed.policy_version;
        await waitForGate(api, id, { seconds: options.wait, applied });
      }
      printResult(changed, options);
    });
}

function account(merchant: Command, ops: Ops): void {
  accountCommand(asks(waits(merchant.command('block'))), ops, {
    about: 'lock the account: its key answers 401, its webhooks are held',
    question: 'Block this merchant, API access and webhooks included?',
    applied: (gate) => !gate.account_active,
  });
  accountCommand(changes(merchant.command('unblock')), ops, { about: 'open a blocked account again' });
  accountCommand(asks(changes(merchant.command('replace-credentials'))), ops, {
    about: 'new API key and rotation secret, shown this once; account and history stay',
    question: 'Replace both credentials? The old ones stop working at once.',
  });
}

/** A command on the account in api-gateway. With a `question` it asks first; one that `waits` ends when the gate is `applied`. */
function accountCommand(
  command: Command,
  { api, config }: Ops,
  change: { about: string; question?: string; applied?: (gate: Gate) => boolean },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption & AuthorOptions & YesOption & Partial<WaitOption>) => {
      const author = authorOf(options, config);
      if (change.question !== undefined) await confirm(change.question, options);
      const path = `/merchants/${id}/${command.name()}`;
      const result = await api.call('api-gateway', { method: 'POST', path, json: author });
      const { applied } = change;
      if (options.wait !== undefined && applied) await waitForGate(api, id, { seconds: options.wait, applied });
      printResult(result, options);
    });
}

const withLimits = (command: Command): Command =>
  command
    .option('--total <n>', 'payments allowed in total', count)
    .option('--daily <n>', 'payments allowed in a UTC day, or "none"', countOrNone);

const limitsOf = ({ total, daily }: LimitOptions): { total_limit?: number; daily_limit?: number | null } => ({
  ...(total === undefined ? {} : { total_limit: total }),
  ...(daily === undefined ? {} : { daily_limit: daily === 'none' ? null : daily }),
});
