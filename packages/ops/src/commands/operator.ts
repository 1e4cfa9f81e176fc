import { Option, type Command } from 'commander';
import {
  AddOperator,
  DisableOperator,
  ListOperators,
  ReadOperatorAudit,
} from '@quittance/contracts/http/api-gateway/operators.ts';
import { SignOutOperator } from '@quittance/contracts/http/api-gateway/operator-sessions.ts';
import { LinkOperator } from '@quittance/contracts/http/api-gateway/sign-in-links.ts';
import { operatorRoles, type OperatorRole } from '@quittance/contracts/operator.ts';
import {
  asks,
  authorOf,
  changes,
  momentArgument,
  reads,
  type ChangeOptions,
  type JsonOption,
  type Ops,
} from '../command.ts';
import { confirm } from '../confirm.ts';
import { noteOlder, printResult } from '../output.ts';
import { personArgument } from '../person-argument.ts';
import { signInAddress } from '../sign-in-address.ts';
import {
  newOperatorView,
  operatorAuditView,
  operatorLinkView,
  operatorsView,
  operatorView,
} from '../views/operator.ts';

/** The people who run the system. */
export function operatorCommands(program: Command, ops: Ops): void {
  const operator = program.command('operator').description('the people who run the system, and what each may do');
  add(operator, ops);
  list(operator, ops);
  link(operator, ops);
  signOut(operator, ops);
  disable(operator, ops);
  audit(operator, ops);
}

function add(operator: Command, { api, config }: Ops): void {
  changes(operator.command('add'))
    .description('an account for a person, with a credential that is shown this once; brings back a disabled one')
    .argument('<name>', 'as audits show it', personArgument)
    .addOption(
      new Option('--role <role>', 'viewer reads, support also helps merchants and customers, admin may do everything')
        .choices(operatorRoles)
        .makeOptionMandatory(),
    )
    .action(async (name: string, options: ChangeOptions & { role: OperatorRole }) => {
      const author = authorOf(options, config);
      printResult(
        await api.call(AddOperator, { body: { name, role: options.role }, author }),
        options,
        newOperatorView,
      );
    });
}

function list(operator: Command, { api }: Ops): void {
  reads(operator.command('list'))
    .description('who they are, with roles; those who were disabled last')
    .action(async (options: JsonOption) => printResult(await api.call(ListOperators), options, operatorsView));
}

function link(operator: Command, { api, config }: Ops): void {
  changes(operator.command('link'))
    .description('an address that signs somebody in to the console once, within half an hour; shown this once')
    .argument('<name>', 'as operator list shows it', personArgument)
    .action(async (name: string, options: ChangeOptions) => {
      const made = await api.call(LinkOperator, { params: { name }, author: authorOf(options, config) });
      const { link: _secret, ...shown } = made;
      printResult({ ...shown, address: signInAddress(config, made) }, options, operatorLinkView);
    });
}

function signOut(operator: Command, { api, config }: Ops): void {
  changes(operator.command('sign-out'))
    .description('ends every session at the console, and takes unused links back; the credential still works')
    .argument('<name>', 'as operator list shows it', personArgument)
    .action(async (name: string, options: ChangeOptions) => {
      const ended = await api.call(SignOutOperator, { params: { name }, author: authorOf(options, config) });
      printResult(ended, options, ({ closed }) => `${closed} sessions ended.`);
    });
}

function disable(operator: Command, { api, config }: Ops): void {
  asks(changes(operator.command('disable')))
    .description('the credential is refused at once, what was begun with it within five minutes')
    .argument('<name>', 'as operator list shows it', personArgument)
    .action(async (name: string, options: ChangeOptions) => {
      const author = authorOf(options, config);
      await confirm(`Disable ${name}? The credential stops working.`, options);
      printResult(await api.call(DisableOperator, { params: { name }, author }), options, operatorView);
    });
}

function audit(operator: Command, { api }: Ops): void {
  reads(operator.command('audit'))
    .description('who was given or lost an account, by whom and why, and who signed in or tried to; newest first')
    .option('--changes', 'only what was done to accounts')
    .option('--before <time>', 'only what was done before this moment', momentArgument)
    .action(async (options: JsonOption & { before?: string; changes?: boolean }) => {
      const only = options.changes === true ? 'changes' : undefined;
      const page = await api.call(ReadOperatorAudit, { query: { before: options.before, only } });
      printResult(page, options, operatorAuditView);
      noteOlder(
        page.entries,
        options,
        (last) => `operator audit${options.changes === true ? ' --changes' : ''} --before ${last.at}`,
      );
    });
}
