import { Option } from 'commander';
import type { Command } from 'commander';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Api } from '../api.ts';
import { asks, authorOf, changes, count, countOrNone, idArgument, waits } from '../command.ts';
import type { AuthorOptions, JsonOption, Ops, WaitOption, YesOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { accountView, credentialsView, policyView, type Account } from '../views/merchant.ts';
import { giveTimeToArrive, waitForAccountStatus, waitForGate, waitForPolicy } from '../wait.ts';
import { merchantReadingCommands } from './merchant-reading.ts';

type LimitOptions = { total?: number; daily?: number | 'none' };
type DaysOption = { days?: number };
type CreateOptions = JsonOption &
  AuthorOptions &
  WaitOption &
  LimitOptions &
  DaysOption & { name: string; access: string };
type Credentials = { merchant_id: string; api_key: string; rotation_secret: string };

const merchantId = idArgument('mer');

export function merchantCommands(program: Command, ops: Ops): void {
  const merchant = program.command('merchant').description('register merchants and decide what they may do');
  registration(merchant, ops);
  merchantReadingCommands(merchant, ops);
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
        ...durationOf(options),
        ...authorOf(options, config),
      };
      const request = { method: 'POST', path: '/merchants', json: body } as const;
      const created = (await api.call('api-gateway', request)) as Credentials;
      // Before the wait, which may fail: nobody can show these credentials again.
      printResult(created, options, credentialsView);
      await waitForPolicy(api, created.merchant_id, { seconds: options.wait });
    });
}

function policy(merchant: Command, ops: Ops): void {
  policyCommand(changes(merchant.command('activate')), ops, {
    about: 'start the beta, once the credentials have arrived',
  });
  policyCommand(changes(merchant.command('extend')).requiredOption('--days <n>', 'how many more', count), ops, {
    about: 'let an activated beta last longer, counted from its present end; usage and limits stay',
    body: ({ days }) => ({ days }),
    remark: ({ beta_expires_at: end }) =>
      end !== null && Date.parse(end) <= Date.now() ? `The beta is still over: its end is now ${end}.` : null,
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
  const moving = withLimits(asks(waits(merchant.command('move-to-beta'))));
  policyCommand(moving.option('--days <n>', 'how long it lasts from its activation', count), ops, {
    about:
      'make a legacy account a beta: 100 payments, 10 a day, for 30 days, or as given. Nothing is created until `activate`; lifetime usage and the count of the day go on',
    body: (options) => ({ ...limitsOf(options), ...durationOf(options) }),
    question: 'a beta? It cannot go back, and it creates nothing until it is activated.',
  });
  policyCommand(waits(merchant.command('pause')), ops, { about: 'stop new payments; everything else goes on' });
  policyCommand(changes(merchant.command('resume')), ops, { about: 'allow new payments again' });
}

type PolicyOptions = JsonOption & AuthorOptions & YesOption & Partial<WaitOption> & LimitOptions & DaysOption;

/**
 * A command that changes the policy in quota and shows the policy then in force. One that `waits` ends when payments enforces it.
 * @param change.question what to ask about the merchant first, after `Make <merchant> `.
 * @param change.remark what a person should notice about the new policy.
 */
function policyCommand(
  command: Command,
  { api, config }: Ops,
  change: {
    about: string;
    path?: string;
    body?: (options: PolicyOptions) => object;
    question?: string;
    remark?: (policy: AccessPolicy) => string | null;
  },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: PolicyOptions) => {
      const path = `/merchants/${id}/${change.path ?? command.name()}`;
      const json = { ...change.body?.(options), ...authorOf(options, config) };
      const { question } = change;
      if (question !== undefined) await confirm(async () => `Make ${await named(api, id)} ${question}`, options);
      const changed = (await api.call('quota', { method: 'POST', path, json })) as AccessPolicy;
      const { policy_version: version } = changed;
      if (options.wait === undefined) await giveTimeToArrive(api, id, version);
      else await waitForGate(api, id, { seconds: options.wait, version });
      printResult(changed, options, policyView);
      const remark = change.remark?.(changed) ?? null;
      if (remark !== null) note(remark, options);
    });
}

function account(merchant: Command, ops: Ops): void {
  statusCommand(asks(waits(merchant.command('block'))), ops, {
    about: 'lock the account: its key answers 401, its webhooks are held',
    question: 'API access and webhooks included?',
    restricts: true,
  });
  statusCommand(waits(merchant.command('unblock')), ops, {
    about: 'open a blocked account again',
    restricts: false,
  });
  replaceCredentials(asks(changes(merchant.command('replace-credentials'))), ops);
}

/**
 * Changes the status of the account in api-gateway, where it holds for the API key at once, and ends when quota has heard of it:
 * payments asks quota before it refuses. A restriction ends only when payments applies it, so that what the gateway had let in
 * the moment before creates nothing either.
 */
function statusCommand(
  command: Command,
  { api, config }: Ops,
  change: { about: string; question?: string; restricts: boolean },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption & AuthorOptions & YesOption & WaitOption) => {
      const json = authorOf(options, config);
      const { question } = change;
      if (question !== undefined) await confirm(async () => `Block ${await named(api, id)}, ${question}`, options);
      const path = `/merchants/${id}/${command.name()}`;
      const result = (await api.call('api-gateway', { method: 'POST', path, json })) as Account;
      const { status_version: statusVersion } = result;
      const version = await waitForAccountStatus(api, id, { seconds: options.wait, statusVersion });
      if (change.restricts) await waitForGate(api, id, { seconds: options.wait, version });
      else await giveTimeToArrive(api, id, version);
      printResult(result, options, accountView);
    });
}

function replaceCredentials(command: Command, { api, config }: Ops): void {
  command
    .description('new API key and rotation secret, shown this once; account and history stay')
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: JsonOption & AuthorOptions & YesOption) => {
      const json = authorOf(options, config);
      const question = async () =>
        `Replace both credentials of ${await named(api, id)}? The old ones stop working at once.`;
      await confirm(question, options);
      const path = `/merchants/${id}/replace-credentials`;
      const result = await api.call('api-gateway', { method: 'POST', path, json });
      printResult(result as Credentials, options, credentialsView);
    });
}

/** For a question to a person, who knows merchants by name and mistypes ids. @throws Failure `refused` for an unknown merchant. */
async function named(api: Api, id: string): Promise<string> {
  const { name } = (await api.call('api-gateway', { method: 'GET', path: `/merchants/${id}` })) as Account;
  return `"${name}" (${id})`;
}

const withLimits = (command: Command): Command =>
  command
    .option('--total <n>', 'payments allowed in total', count)
    .option('--daily <n>', 'payments allowed in a UTC day, or "none"', countOrNone);

const limitsOf = ({ total, daily }: LimitOptions): { total_limit?: number; daily_limit?: number | null } => ({
  ...(total === undefined ? {} : { total_limit: total }),
  ...(daily === undefined ? {} : { daily_limit: daily === 'none' ? null : daily }),
});

const durationOf = ({ days }: DaysOption): { beta_duration_days?: number } =>
  days === undefined ? {} : { beta_duration_days: days };
