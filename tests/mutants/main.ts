import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { chooseByName, helpList } from '../support/named-files.ts';
import { allRules, type Rules } from './rules.ts';
import { sqlMutants } from './sql/mutants.ts';
import { runSqlMutants } from './sql/run.ts';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

/** At least this share of the mutants must be noticed. docs/mutants.md lists the others with the reason. */
const SCORE_MIN = 90;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', default: '' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Mutants of SQL are written manually, and their tests need PostgreSQL. */
const SQL = {
  name: 'sql',
  about: 'statements about keys, money, claims, outcomes and the outbox; real PostgreSQL',
};

type Report = { name: string; noticed: number; survived: string[] }[];

if (values.help) console.log(usage());
else await mutate(chooseByName([...allRules, SQL], positionals, 'rule'));

async function mutate(chosen: readonly (Rules | typeof SQL)[]): Promise<void> {
  const report: Report = [];
  for (const rules of chosen) {
    console.log(`\n${rules.name}: ${rules.about}`);
    if (!('mutate' in rules)) {
      report.push(await mutateSql());
      continue;
    }
    const mutants = await new Stryker(optionsFor(rules)).runMutationTest();
    const noticed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length;
    const survived = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage').map(lineOf);
    report.push({ name: rules.name, noticed, survived });
    console.log(`  ${noticed} of ${noticed + survived.length} mutants were noticed`);
    for (const line of survived) console.log(`  survived  ${line}`);
  }
  const noticed = report.reduce((sum, one) => sum + one.noticed, 0);
  const all = noticed + report.reduce((sum, one) => sum + one.survived.length, 0);
  const score = (100 * noticed) / all;
  if (!(score >= SCORE_MIN)) process.exitCode = 1;
  await writePrivateJson(join(repositoryRoot, '.local', 'mutants.json'), { score, report });
  console.log(`\n${noticed} of ${all} mutants were noticed, ${score.toFixed(1)} % of at least ${SCORE_MIN} %`);
}

/** Each has a test: one that survives, or can no longer be made, fails the command. */
async function mutateSql(): Promise<Report[number]> {
  const chosen = sqlMutants.filter(({ file }) => file.includes(values.part));
  const { noticed, survived, explained, broken } = await runSqlMutants(chosen, (line) => console.log(line));
  if (survived.length + broken.length > 0) process.exitCode = 1;
  console.log(
    `  ${noticed} of ${noticed + survived.length} mutants were noticed, ${explained.length} more change nothing`,
  );
  if (broken.length > 0) console.log(`  ${broken.length} could not be made`);
  return { name: SQL.name, noticed, survived: [...survived, ...broken] };
}

function optionsFor({ mutate, tests }: Rules): ConstructorParameters<typeof Stryker>[0] {
  process.env['MUTATED_TESTS'] = JSON.stringify(tests);
  return {
    mutate,
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    // The compiler checks statuses and categories; all other texts are for people.
    mutator: { excludedMutations: ['StringLiteral'], plugins: null },
    // Jest finds related tests only in CommonJS.
    jest: { projectType: 'custom', configFile: 'tests/mutants/jest.config.js', enableFindRelatedTests: false },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // A busy machine must not look like an endless loop.
    timeoutMS: 60_000,
    ignorePatterns: ['.local', 'docs', 'k8s'],
    tempDirName: '.local/mutants',
    reporters: ['progress-append-only'],
    disableTypeChecks: false,
  };
}

function lineOf({ fileName, location, mutatorName, replacement }: Mutant): string {
  return `${fileName.slice(repositoryRoot.length + 1)}:${location.start.line} ${mutatorName}: ${replacement.slice(0, 100)}`;
}

function usage(): string {
  return `Usage: npm run mutants -- [rule …]

Changes one place of the rules about money at a time, and runs the unit tests of that rule, which must fail. Exit code 1 when they notice
less than ${SCORE_MIN} % of the changes, or a change of SQL goes unnoticed.

Rules:
${helpList([...allRules, SQL].map(({ name, about }) => [name, about]))}

Options:
${helpList([
  ['--part <words>', 'sql: only files whose path contains these words'],
  ['--help', 'this text'],
])}`;
}
