import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import { copyWorkingTree } from './copy.ts';
import { mutated, type SqlMutant, type SqlMutants } from './mutant.ts';

/** A mutant also counts as noticed when its tests hang. */
const MUTANT_TIMEOUT_MS = 240_000;
/** For all tests that mutants name, on a busy machine. */
const ALL_TIMEOUT_MS = 3_600_000;

export type SqlScore = { noticed: number; survived: string[]; explained: string[]; broken: string[] };

type Tests = { file: string; names: string[] };
type Outcome = { passed: number; failures: string[] };
type Jest = (tests: readonly Tests[], timeoutMs: number) => Promise<Outcome>;

/**
 * Makes each change in a copy of the working tree, one after the other, and runs the tests that must fail, on backends that all runs
 * share. First the tests run without any change and must pass.
 * @param say gets the result of each mutant immediately.
 */
export async function runSqlMutants(groups: readonly SqlMutants[], say: (line: string) => void): Promise<SqlScore> {
  const { root, remove } = await copyWorkingTree();
  const backends = await startRunBackends();
  const jest: Jest = (tests, timeoutMs) => runJest({ root, environment: backends.environment, tests, timeoutMs });
  try {
    const unchanged = await jest(allTests(groups), ALL_TIMEOUT_MS);
    if (unchanged.failures.length > 0) {
      throw new Error(`the tests fail without any change:\n${unchanged.failures.join('\n')}`);
    }
    const score: SqlScore = { noticed: 0, survived: [], explained: [], broken: [] };
    for (const group of groups) {
      for (const mutant of group.mutants) say(await judge({ root, group, mutant, jest, score }));
    }
    return score;
  } finally {
    await backends.stop();
    await remove();
  }
}

async function judge(run: {
  root: string;
  group: SqlMutants;
  mutant: SqlMutant;
  jest: Jest;
  score: SqlScore;
}): Promise<string> {
  const { root, group, mutant, jest, score } = run;
  const name = `${group.file}: ${mutant.breaks}`;
  const path = join(root, group.file);
  const text = await readFile(path, 'utf8');
  const changed = mutated(text, mutant);
  if ('changesNothing' in mutant) {
    score.explained.push(name);
    return `  explained  ${name}`;
  }
  const startedAt = performance.now();
  await writeFile(path, changed);
  const { passed, failures } = await jest([testsOf(group, mutant)], MUTANT_TIMEOUT_MS);
  await writeFile(path, text);
  const seconds = `${((performance.now() - startedAt) / 1000).toFixed(0)} s`;
  // A statement that PostgreSQL refuses proves nothing about the tests.
  const refused = failures.find((failure) =>
    /syntax error|does not exist|is ambiguous|could not determine/.test(failure),
  );
  if (refused !== undefined || (failures.length === 0 && passed === 0)) {
    score.broken.push(name);
    return `  BROKEN     ${name}: ${refused?.slice(0, 400) ?? 'no test has that name'}`;
  }
  if (failures.length === 0) {
    score.survived.push(name);
    return `  SURVIVED   ${name} (${seconds})`;
  }
  score.noticed += 1;
  return `  noticed    ${name} (${seconds})`;
}

function testsOf(group: SqlMutants, mutant: SqlMutant): Tests {
  if (!('noticedBy' in mutant)) return { file: group.tests, names: [] };
  return { file: mutant.tests ?? group.tests, names: [mutant.noticedBy].flat() };
}

/** Every test that a mutant names. */
function allTests(groups: readonly SqlMutants[]): Tests[] {
  const named = groups.flatMap((group) => group.mutants.map((mutant) => testsOf(group, mutant)));
  return named.filter(({ names }) => names.length > 0);
}

async function runJest(run: {
  root: string;
  environment: Record<string, string>;
  tests: readonly Tests[];
  timeoutMs: number;
}): Promise<Outcome> {
  const { root, environment, tests, timeoutMs } = run;
  const report = join(root, 'outcome.json');
  await rm(report, { force: true });
  const words = [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'],
    // A mutant may leave something open that the tests normally close.
    ...['--config', join('tests', 'mutants', 'jest.sql.config.js'), '--runInBand', '--forceExit'],
    ...['--json', '--outputFile', report],
    ...['--testNamePattern', [...new Set(tests.flatMap(({ names }) => names))].map(escaped).join('|')],
    ...['--runTestsByPath', ...new Set(tests.map(({ file }) => file))],
  ];
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A process group: services that tests have started always end with it.
    detached: true,
  });
  const tooLate = setTimeout(() => endGroup(child), timeoutMs);
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  clearTimeout(tooLate);
  endGroup(child);
  if (signal !== null) return { passed: 0, failures: ['the tests did not end'] };
  const text = await readFile(report, 'utf8').catch(() => null);
  if (text === null) throw new Error(`jest wrote no report: ${errors}`);
  return outcomeOf(JSON.parse(text) as JestReport);
}

function endGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

type JestReport = {
  numPassedTests: number;
  testResults: {
    message: string;
    status: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

function outcomeOf({ numPassedTests, testResults }: JestReport): Outcome {
  const failures = testResults.flatMap(({ status, message, assertionResults }) => {
    const failed = assertionResults.filter((result) => result.status === 'failed');
    // A file that fails outside its tests has only a message.
    if (failed.length === 0) return status === 'failed' ? [message] : [];
    return failed.map(({ fullName, failureMessages }) => `${fullName}: ${failureMessages.join('\n')}`);
  });
  return { passed: numPassedTests, failures };
}

const escaped = (words: string): string => words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
