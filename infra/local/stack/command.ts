import { StackError } from './directory.ts';

/**
 * The frame of every command: an expected trouble is one sentence on stderr and exit code 1,
 * an unexpected one shows where it happened.
 */
export async function command(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const isExpected = error instanceof Error && (error instanceof StackError || error.constructor === Error);
    console.error(isExpected ? `quittance: ${error.message}` : error);
    process.exitCode = 1;
  }
}
