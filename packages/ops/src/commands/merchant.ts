import { Option, type Command } from 'commander';
import type { AccessPolicy } from '@quittance/contracts/access.ts';
import type { Author } from '@quittance/contracts/author.ts';
import {
  BlockMerchant,
  RegisterMerchant,
  ReplaceCredentials,
  UnblockMerchant,
} from '@quittance/contracts/http/api-gateway/merchants.ts';
import {
  ActivateBeta,
  ExtendBeta,
  MoveToBeta,
  PauseCreation,
  ResumeCreation,
  SetLimits,
} from '@quittance/contracts/http/quota/policy.ts';
import { standardBeta, unlimited, type BetaConditions, type Limits } from '@quittance/contracts/policy-defaults.ts';
import type { Api } from '../api.ts';
import { asks, authorOf, changes, count, countOrNone, idArgument, waits } from '../command.ts';
import type { ChangeOptions, Ops, WaitOption } from '../command.ts';
import { confirm } from '../confirm.ts';
import { Failure } from '../failure.ts';
import { note, printResult } from '../output.ts';
import { accountView, credentialsView, policyView, replacedView } from '../views/merchant.ts';
import { waitForAccountStatus, waitForGate, waitForPolicy } from '../wait.ts';
import { merchantCreationRateCommand } from './merchant-creation-rate.ts';
import { merchantKeyCommands } from './merchant-key.ts';
import { merchantLoginCommands } from './merchant-login.ts';
import { merchantProfileCommand } from './merchant-profile.ts';
import { merchantReadingCommands } from './merchant-reading.ts';
import { namedMerchant } from './named-merchant.ts';

type LimitOptions = { total?: number; daily?: number | 'none' };
type DaysOption = { days?: number };
type CreateOptions = ChangeOptions &
  WaitOption &
  LimitOptions &
  DaysOption & { name: string; access: 'beta' | 'legacy'; unlimited?: boolean };

const merchantId = idArgument('mer');

const { total_limit: total, daily_limit: daily, beta_duration_days: betaDays } = standardBeta;
const standardText = `${total} payments, ${daily} a day, for ${betaDays} days`;

export function merchantCommands(program: Command, ops: Ops): void {
  const merchant = program.command('merchant').description('register merchants and decide what they may do');
  registration(merchant, ops);
  merchantReadingCommands(merchant, ops);
  merchantKeyCommands(merchant, ops);
  merchantLoginCommands(merchant, ops);
  merchantProfileCommand(merchant, ops);
  merchantCreationRateCommand(merchant, ops);
  policy(merchant, ops);
  account(merchant, ops);
}

function registration(merchant: Command, { api, config }: Ops): void {
  withLimits(waits(merchant.command('create')))
    .description(`register a merchant; its credentials are shown this once. A beta has ${standardText}`)
    .requiredOption('--name <name>', 'as operators see it')
    .addOption(new Option('--access <type>', 'kind of access').choices(['beta', 'legacy']).default('beta'))
    .option('--days <n>', 'how long a beta lasts from its activation', count)
    .addOption(
      new Option('--unlimited', 'for those who host it for themselves: active at once, no limits, no end').conflicts([
        'access',
        'total',
        'daily',
        'days',
      ]),
    )
    .action(async (options: CreateOptions) => {
      const created = await api.call(RegisterMerchant, {
        body: { name: options.name, ...accessOf(options) },
        author: authorOf(options, config),
      });
      // Before the wait, which may fail: these credentials cannot be shown again.
      printResult(created, options, credentialsView);
      await waitForPolicy(api, created.merchant_id, { seconds: options.wait });
    });
}

const accessOf = (options: CreateOptions) =>
  options.unlimited ? unlimited : { access_type: options.access, ...betaConditionsOf(options) };

function policy(merchant: Command, ops: Ops): void {
  policyCommand(changes(merchant.command('activate')), ops, {
    about: 'start the beta, once the credentials have arrived',
    send: (api, given) => api.call(ActivateBeta, given),
  });
  policyCommand(changes(merchant.command('extend')).requiredOption('--days <n>', 'how many more', count), ops, {
    about: 'let an activated beta last longer, counted from its present end; usage and limits stay',
    send: (api, given, { days = 0 }) => api.call(ExtendBeta, { ...given, body: { days } }),
    remark: ({ beta_expires_at: end }) =>
      end !== null && Date.parse(end) <= Date.now() ? `The beta is still over: its end is now ${end}.` : null,
  });
  // A limit may go up or down, and only the services know from where: waiting is right for both.
  policyCommand(withLimits(waits(merchant.command('set-limits'))), ops, {
    about: 'set one limit or both',
    send: (api, given, options) => {
      const limits = limitsOf(options);
      if (Object.keys(limits).length === 0) throw new Failure('wrongUse', 'Give --total, --daily or both.');
      return api.call(SetLimits, { ...given, body: limits });
    },
  });
  const moving = withLimits(asks(waits(merchant.command('move-to-beta'))));
  policyCommand(moving.option('--days <n>', 'how long it lasts from its activation', count), ops, {
    about: `make a legacy account a beta: ${standardText}, or as given. Nothing is created until \`activate\`; lifetime usage and the count of the day go on`,
    send: (api, given, options) => api.call(MoveToBeta, { ...given, body: betaConditionsOf(options) }),
    question: 'a beta? It cannot go back, and it creates nothing until it is activated.',
  });
  policyCommand(waits(merchant.command('pause')), ops, {
    about: 'stop new payments; everything else goes on',
    send: (api, given) => api.call(PauseCreation, given),
  });
  policyCommand(changes(merchant.command('resume')), ops, {
    about: 'allow new payments again',
    send: (api, given) => api.call(ResumeCreation, given),
  });
}

type PolicyOptions = ChangeOptions & Partial<WaitOption> & LimitOptions & DaysOption;
type Given = { params: { merchant_id: string }; author: Author };

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
    send: (api: Api, given: Given, options: PolicyOptions) => Promise<AccessPolicy>;
    question?: string;
    remark?: (policy: AccessPolicy) => string | null;
  },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: PolicyOptions) => {
      const given = { params: { merchant_id: id }, author: authorOf(options, config) };
      const { question } = change;
      if (question !== undefined)
        await confirm(async () => `Make ${await namedMerchant(api, id)} ${question}`, options);
      const changed = await change.send(api, given, options);
      const { policy_version: version } = changed;
      await waitForGate(api, id, { seconds: options.wait ?? null, version });
      printResult(changed, options, policyView);
      const remark = change.remark?.(changed) ?? null;
      if (remark !== null) note(remark, options);
    });
}

function account(merchant: Command, ops: Ops): void {
  statusCommand(asks(waits(merchant.command('block'))), ops, {
    about: 'lock the account: its key answers 401, its webhooks are held',
    call: BlockMerchant,
    question: 'API access and webhooks included?',
    restricts: true,
  });
  statusCommand(waits(merchant.command('unblock')), ops, {
    about: 'open a blocked account again',
    call: UnblockMerchant,
    restricts: false,
  });
  replaceCredentials(asks(changes(merchant.command('replace-credentials'))), ops);
}

/**
 * Changes the status of the account in api-gateway, where it holds for the API key at once, and ends when quota has received it:
 * payments asks quota before it refuses. A restriction ends only when payments applies it, so that what the gateway had let in
 * just before creates nothing either.
 */
function statusCommand(
  command: Command,
  { api, config }: Ops,
  change: { about: string; call: typeof BlockMerchant | typeof UnblockMerchant; question?: string; restricts: boolean },
): void {
  command
    .description(change.about)
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: ChangeOptions & WaitOption) => {
      const author = authorOf(options, config);
      const { question } = change;
      if (question !== undefined)
        await confirm(async () => `Block ${await namedMerchant(api, id)}, ${question}`, options);
      const result = await api.call(change.call, { params: { merchant_id: id }, author });
      const { status_version: statusVersion } = result;
      const version = await waitForAccountStatus(api, id, { seconds: options.wait, statusVersion });
      await waitForGate(api, id, { seconds: change.restricts ? options.wait : null, version });
      printResult(result, options, accountView);
    });
}

function replaceCredentials(command: Command, { api, config }: Ops): void {
  command
    .description(
      'new API key and rotation secret, shown this once; account and history stay, further keys and logins work on and are listed',
    )
    .argument('<merchant>', 'merchant id', merchantId)
    .action(async (id: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      const question = async () =>
        `Replace both credentials of ${await namedMerchant(api, id)}? The old ones stop working at once; further API keys and logins do not.`;
      await confirm(question, options);
      const replaced = await api.call(ReplaceCredentials, { params: { merchant_id: id }, author });
      printResult(replaced, options, replacedView);
    });
}

const withLimits = (command: Command): Command =>
  command
    .option('--total <n>', 'payments allowed in total', count)
    .option('--daily <n>', 'payments allowed in a UTC day, or "none"', countOrNone);

const limitsOf = (options: LimitOptions): Limits => ({
  ...(options.total !== undefined && { total_limit: options.total }),
  ...(options.daily !== undefined && { daily_limit: options.daily === 'none' ? null : options.daily }),
});

const betaConditionsOf = (options: LimitOptions & DaysOption): BetaConditions => ({
  ...limitsOf(options),
  ...(options.days !== undefined && { beta_duration_days: options.days }),
});
