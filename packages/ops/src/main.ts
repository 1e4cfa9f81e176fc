#!/usr/bin/env node
import { CommanderError } from 'commander';
import { createApi } from './api.ts';
import { readConfig } from './config.ts';
import { exitCodes, Failure } from './failure.ts';
import { createProgram } from './program.ts';
import { oneLine } from './text.ts';

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

function report(error: unknown): number {
  // Commander has printed its help or its complaint already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
  if (!(error instanceof Failure)) throw error;
  // It may quote a service or the broker.
  process.stderr.write(`${error.message.split('\n').map(oneLine).join('\n')}\n`);
  return exitCodes[error.kind];
}
