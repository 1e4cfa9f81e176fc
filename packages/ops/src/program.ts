import { Argument, Command, Option } from 'commander';
import type { Author } from '@quittance/contracts/author.ts';
import { typedHelp, Wrong, type Field, type Raw } from '@quittance/operator/field.ts';
import { questionOf, type Row } from '@quittance/operator/row.ts';
import { groups } from '@quittance/operator/table.ts';
import type { Api } from './api.ts';
import type { Config } from './config.ts';
import { queues } from './dead-letters.ts';
import { Failure } from './failure.ts';
import { authorOf, confirm } from './person.ts';
import { standard, type Asked, type Run } from './run.ts';
import { ownRuns } from './runs.ts';

type Ops = { api: Api; config: Config };
type Options = Record<string, unknown> & {
  json?: boolean;
  yes?: boolean;
  actor?: string;
  reason?: string;
  wait?: string;
};

const environmentHelp = `
Where things are comes from the environment, or from the stack that runs in this checkout:
  OPERATOR_CREDENTIAL (or SIGNING_KEY), API_GATEWAY_URL, PAYMENTS_URL, QUOTA_URL, WEBHOOK_DISPATCHER_URL, CHAIN_WATCHER_URL
  AMQP_URL (dead-letter and trust check only)`;

/** The command line: every row of the operators' table. */
export function createProgram(ops: Ops): Command {
  const program = new Command('ops')
    .description("The operator's commands. Exit codes: 0 done, 1 refused, 2 wrong use, 3 a service did not answer.")
    .option('--json', 'print JSON instead of a table')
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
    .addHelpText('after', environmentHelp);
  // Commander gives --json to the program, wherever it is typed; the command reads it.
  program.hook('preAction', (_program, command) => {
    if (program.opts<Options>().json) command.setOptionValue('json', true);
  });
  const parents = new Map([['', program]]);
  for (const { name, does, rows } of groups) {
    const words = name.split(' ');
    const above = parents.get(words.slice(0, -1).join(' ')) ?? program;
    const parent = name === '' ? program : above.command(words.at(-1) ?? '').description(does);
    parents.set(name, parent);
    for (const row of rows) addCommand(parent, row, ops);
  }
  return program;
}

function addCommand(parent: Command, row: Row, ops: Ops): void {
  const command = parent.command(row.command.split(' ').at(-1) ?? '').description(row.does);
  if (row.alias !== undefined) command.alias(row.alias);
  if (row.more !== undefined) command.addHelpText('after', `\n${row.more}`);
  for (const [name, spelled] of Object.entries(row.fields)) {
    const field = name === 'queue' ? { ...spelled, choices: queues } : spelled;
    if (isWord(field)) command.addArgument(argumentOf(field));
    else command.addOption(optionOf(field));
  }
  command.option('--json', 'print JSON instead of a table');
  if (row.audited !== false) {
    command.option('--actor <name>', 'who does this, for the audit (default: who runs this)');
    if (row.audited === 'reason required') command.requiredOption('--reason <text>', 'why, for the audit');
    else command.option('--reason <text>', 'why, for the audit', 'no reason given');
  }
  if (row.waitSeconds !== undefined)
    command.option('--wait <seconds>', 'how long to wait until it has taken effect', String(row.waitSeconds));
  if (row.asks === true)
    command.option('--yes', 'do not ask (required where there is no terminal, except with --json)');
  const { run } = ownRuns.find((one) => one.command === row.command) ?? standardOf(row);
  command.action(async (...words: unknown[]) => {
    const options = words.at(-2) as Options;
    await refusing(() => run(askedOf(row, ops, rawOf(row, words, options), options)));
  });
}

/** What no service was asked about because it cannot be right is wrong use. */
async function refusing(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    throw error instanceof Wrong ? new Failure('wrongUse', error.message) : error;
  }
}

function standardOf(row: Row): Run {
  const { send } = row;
  if (send === undefined) throw new Error(`${row.command} has no run of its own, and makes no call`);
  return standard({ ...row, send });
}

const isWord = ({ flags }: Field<unknown>): boolean => !flags.startsWith('-');

function argumentOf({ flags, help, choices }: Field<unknown>): Argument {
  const argument = new Argument(flags, help);
  return choices === undefined ? argument : argument.choices(choices);
}

function optionOf(field: Field<unknown>): Option {
  const { flags, choices, required, byDefault, repeats, conflicts = [] } = field;
  const help = typedHelp(field);
  const option = new Option(flags, byDefault === undefined ? help : `${help} (default: ${byDefault})`);
  if (choices !== undefined) option.choices(choices);
  if (required) option.makeOptionMandatory();
  if (repeats === true) option.argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
  return option.conflicts([...conflicts]);
}

/** What was typed, by the names of the row's fields. */
function rawOf(row: Row, words: readonly unknown[], options: Options): Record<string, Raw> {
  let position = 0;
  return Object.fromEntries(
    Object.entries(row.fields).map(([name, field]) => {
      const typed = isWord(field) ? words[position++] : options[new Option(field.flags).attributeName()];
      return [name, typed as Raw];
    }),
  );
}

function askedOf(row: Row, ops: Ops, raw: Record<string, Raw>, options: Options): Asked<Record<string, unknown>> {
  const values = Object.fromEntries(
    Object.entries(row.fields).map(([name, field]) => [name, valueOf(field, raw[name])]),
  );
  const missing = row.missing?.(values) ?? null;
  if (missing !== null) throw new Failure('wrongUse', missing);
  const { json = false, yes = false, wait = '0', actor, reason = '' } = options;
  if (!/^\d{1,10}$/.test(wait)) throw new Failure('wrongUse', '--wait must be a whole number, 0 or more');
  return {
    ...ops,
    values,
    options: { json, yes, wait: Number(wait) },
    author: (): Author => authorOf({ actor, reason }, ops.config),
    async confirm() {
      const question = row.asks === true ? await questionOf(row, values, ops.api) : null;
      if (question !== null) await confirm(question, { json, yes });
    },
    again: (changed) => commandLine(row, { ...raw, ...changed }),
  };
}

function valueOf(field: Field<unknown>, raw: Raw): unknown {
  try {
    return field.read(raw);
  } catch (error) {
    if (!(error instanceof Wrong)) throw error;
    throw new Failure('wrongUse', `${field.flags}: ${error.message}`);
  }
}

/** The command with these words and options, in the order of its fields. */
function commandLine(row: Row, raw: Record<string, Raw>): string {
  const words = Object.entries(row.fields).flatMap(([name, field]) => {
    const given = raw[name];
    if (given === undefined) return [];
    const [option = ''] = field.flags.split(' ');
    return isWord(field) ? [String(given)] : given === true ? [option] : [option, String(given)];
  });
  return [row.command, ...words].join(' ');
}
