import { StackError } from './directory.ts';

/**
 * Runs a command. An expected error is printed as one sentence on stderr, with exit code 1; an unexpected one is printed with its stack
 * trace.
 */
export async function command(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    console.error(isExpected(error) ? `quittance: ${error.message}` : error);
    process.exitCode = 1;
  }
}

/** Our own errors and the plain errors of the backends. A TypeError, for example, is a bug of ours and needs its stack trace. */
export function isExpected(error: unknown): error is Error {
  return error instanceof Error && (error instanceof StackError || error.constructor === Error);
}
