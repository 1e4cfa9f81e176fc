import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import { chooseByName, helpList } from '../support/named-files.ts';
import { allRules, type Rules } from './rules.ts';

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

/** At least this share of the mutants must be noticed. What is not stands in docs/mutants.md with its reason. */
const SCORE_MIN = 90;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { help: { type: 'boolean', short: 'h', default: false } },
});

if (values.help) console.log(usage());
else await mutate(chooseByName(allRules, positionals, 'rule'));

async function mutate(chosen: readonly Rules[]): Promise<void> {
  const report: { name: string; noticed: number; survived: string[] }[] = [];
  for (const rules of chosen) {
    console.log(`\n${rules.name}: ${rules.about}`);
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

function optionsFor({ mutate, tests }: Rules): ConstructorParameters<typeof Stryker>[0] {
  process.env['MUTATED_TESTS'] = JSON.stringify(tests);
  return {
    mutate,
    testRunner: 'jest',
    plugins: ['@stryker-mutator/jest-runner'],
    testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    // Statuses and categories are types, which the compiler holds; all other texts are for people.
    mutator: { excludedMutations: ['StringLiteral'], plugins: null },
    // Related tests are found by a reader of CommonJS.
    jest: { projectType: 'custom', configFile: 'tests/mutants/jest.config.js', enableFindRelatedTests: false },
    coverageAnalysis: 'perTest',
    concurrency: 2,
    // A machine that is busy with other work is no endless loop.
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

Changes the rules about money, one place at a time, and runs the unit tests of that rule: they must notice. Exit code 1 when they notice
less than ${SCORE_MIN} % of the changes.

Rules:
${helpList(allRules.map(({ name, about }) => [name, about]))}`;
}
