import { StackError } from './directory.ts';

/**
 * The frame of every command: an expected trouble is one sentence on stderr and exit code 1,
 * an unexpected one shows where it happened.
 */
export async function command(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    console.error(isExpected(error) ? `quittance: ${error.message}` : error);
    process.exitCode = 1;
  }
}

/** Our own sentences, and the plain errors of the backends; a TypeError, say, is a mistake of ours and shows its place. */
export function isExpected(error: unknown): error is Error {
  return error instanceof Error && (error instanceof StackError || error.constructor === Error);
}
