#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { createApi } from './api.ts';
import { archiveCommand } from './commands/archive.ts';
import { chainCommands } from './commands/chain.ts';
import { checkCommand } from './commands/check.ts';
import { deadLetterCommands } from './commands/dead-letter.ts';
import { incidentCommands } from './commands/incident.ts';
import { merchantCommands } from './commands/merchant.ts';
import { networkCommands } from './commands/network.ts';
import { operatorCommands } from './commands/operator.ts';
import { paymentCommands } from './commands/payment.ts';
import { transferCommands } from './commands/transfer.ts';
import { trustCommands } from './commands/trust.ts';
import { walletCommands } from './commands/wallet.ts';
import { webhookCommands } from './commands/webhook.ts';
import type { JsonOption, Ops } from './command.ts';
import { readConfig } from './config.ts';
import { exitCodes, Failure } from './failure.ts';
import { oneLine } from './text.ts';

const environmentHelp = `
Where things are comes from the environment, or from the stack that runs in this checkout:
  OPERATOR_CREDENTIAL (or SIGNING_KEY), API_GATEWAY_URL, PAYMENTS_URL, QUOTA_URL, WEBHOOK_DISPATCHER_URL, CHAIN_WATCHER_URL
  AMQP_URL (dead-letter and trust check only)`;

// A reader of only the beginning, such as `| head`, closes the pipe early: no fault of this command.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const config = readConfig(process.env);
    const api = createApi(config);
    try {
      await createProgram({ api, config }).parseAsync();
      return 0;
    } finally {
      api.close();
    }
  } catch (error) {
    return report(error);
  }
}

function createProgram(ops: Ops): Command {
  const program = new Command('ops')
    .description("The operator's commands. Exit codes: 0 done, 1 refused, 2 wrong use, 3 a service did not answer.")
    .option('--json', 'print JSON instead of a table')
    .exitOverride()
    .showHelpAfterError('(add --help for the options)')
    .addHelpText('after', environmentHelp);
  // Commander takes it for the program's wherever it stands, before the command or after it; the command is what reads it.
  program.hook('preAction', (_program, command) => {
    if (program.opts<JsonOption>().json) command.setOptionValue('json', true);
  });
  merchantCommands(program, ops);
  walletCommands(program, ops);
  paymentCommands(program, ops);
  transferCommands(program, ops);
  incidentCommands(program, ops);
  webhookCommands(program, ops);
  deadLetterCommands(program, ops);
  chainCommands(program, ops);
  networkCommands(program, ops);
  checkCommand(program, ops);
  archiveCommand(program, ops);
  operatorCommands(program, ops);
  trustCommands(program, ops);
  return program;
}

function report(error: unknown): number {
  // Commander has printed its help or its complaint already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
  if (!(error instanceof Failure)) throw error;
  // It may quote a service or the broker.
  process.stderr.write(`${error.message.split('\n').map(oneLine).join('\n')}\n`);
  return exitCodes[error.kind];
}
