import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ownEnvironment } from '../../support/journey-stack.ts';
import type { Shared } from './shared.ts';

/** Runs an operator's command against this stack, which it finds by its file. @returns exit code and output. */
export async function runOps(
  shared: Shared,
  ...words: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const main = fileURLToPath(new URL('../../../packages/ops/src/main.ts', import.meta.url));
  const env = { ...ownEnvironment(), LOCAL_DIRECTORY: shared.directory.root };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [main, ...words], { env })) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}
