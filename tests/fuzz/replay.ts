import { join } from 'node:path';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import { loadNamed } from '../support/named-files.ts';
import { readCorpus } from './corpus.ts';
import { verdictOf } from './explore.ts';
import type { Target } from './target.ts';

export const allTargets = (): Promise<Target[]> =>
  loadNamed<Target>(join(import.meta.dirname, 'targets'), '.target.ts', 'target');

/** Starts backends for targets unless the run has some. @returns what ends them. */
export async function ensureBackends(): Promise<() => Promise<void>> {
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return () => Promise.resolve();
  const backends = await startRunBackends();
  Object.assign(process.env, backends.environment);
  return () => backends.stop();
}

/** Puts every input that is kept for a target once. @returns what must not happen, and did. */
export async function replay(target: Target): Promise<string[]> {
  const running = await target.start({});
  try {
    const problems: string[] = [];
    for (const input of [...target.starts, ...(await readCorpus(target.name))]) {
      const verdict = await verdictOf(running, input);
      problems.push(...verdict.problems.map((problem) => `${JSON.stringify(input).slice(0, 500)}: ${problem}`));
    }
    return [...problems, ...(await running.check())];
  } finally {
    await running.close();
  }
}
