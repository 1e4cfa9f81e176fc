import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rules, type RuleId } from './rules.ts';

/** The parts of jest's results that this file reads. */
type AggregatedResult = {
  wasInterrupted?: boolean;
  testResults: { testFilePath: string; testResults: { title: string; status: string }[] }[];
};
type GlobalConfig = {
  rootDir: string;
  testNamePattern?: string | undefined;
  shard?: object | undefined;
  testPathPatterns: { isSet: () => boolean };
};

type RuleTest = { guarantee: string; outcome: 'passed' | 'failed' | 'skipped' };
type RuleResult = { id: RuleId; statement: string; tests: RuleTest[]; outcome: 'passed' | 'failed' | 'untested' };

const reportFile = join('.local', 'conformance.md');
const marks = { passed: '✓', failed: '✗', skipped: '○', untested: '?' } as const;

/**
 * Jest's reporter of the public contract. After the tests it lists each rule of rules.ts with its tests, on the terminal and, for a
 * complete run, in .local/conformance.md. A complete run fails when a rule has no passed test.
 */
export default class ConformanceReport {
  readonly #config: GlobalConfig;
  #error: Error | undefined;

  constructor(config: GlobalConfig) {
    this.#config = config;
  }

  onRunComplete(_contexts: unknown, results: AggregatedResult): void {
    const folder = join(this.#config.rootDir, 'tests', 'conformance');
    const ran = results.testResults.filter(({ testFilePath }) => testFilePath.startsWith(folder + sep));
    if (ran.length === 0) return;
    const contract = byRule(ran.flatMap((file) => file.testResults));
    // A run of a few tests reports only those, not that the others did not run.
    const isWhole = !this.#isFiltered(results) && ran.length === testFilesIn(folder).length;
    const shown = isWhole ? contract : contract.filter(({ outcome }) => outcome !== 'untested');
    if (shown.length === 0) return;
    this.#print(shown, isWhole);
    const broken = contract.filter(({ tests }) => !tests.some(hasPassed));
    if (isWhole && broken.length > 0) {
      this.#error = new Error(`rules without a test that passed: ${broken.map(({ id }) => id).join(', ')}`);
      process.stderr.write(`${this.#error.message}\n`);
    }
  }

  /** Jest fails a run in which a reporter has an error. */
  getLastError(): Error | undefined {
    return this.#error;
  }

  #isFiltered({ wasInterrupted = false }: AggregatedResult): boolean {
    const { testNamePattern = '', testPathPatterns, shard } = this.#config;
    return wasInterrupted || testNamePattern !== '' || testPathPatterns.isSet() || shard !== undefined;
  }

  #print(contract: RuleResult[], isWhole: boolean): void {
    const { rootDir } = this.#config;
    const total = totalOf(contract, isWhole);
    // jest's own lines also go to stderr; with --json, stdout is for machines.
    process.stderr.write(`\nThe public contract, rule by rule\n${contract.map(terminalLines).join('')}`);
    process.stderr.write(`${total}\n`);
    // The file stays that of the last complete run.
    if (!isWhole) return;
    const file = join(rootDir, reportFile);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, markdown(contract, total));
    process.stderr.write(`Written to ${relative(process.cwd(), file)}.\n`);
  }
}

/** Groups tests by rule: a test's name begins with the rule's id in brackets. */
export function byRule(tests: readonly { title: string; status: string }[]): RuleResult[] {
  const found = new Map<string, RuleTest[]>();
  for (const { title, status } of tests) {
    const [, ids = '', guarantee = ''] = /^\[([\w. -]+)\] (.*)$/s.exec(title) ?? [];
    const outcome = status === 'passed' || status === 'failed' ? status : 'skipped';
    for (const id of ids.split(' ')) found.set(id, [...(found.get(id) ?? []), { guarantee, outcome }]);
  }
  return Object.entries(rules).map(([id, statement]) => {
    const own = found.get(id) ?? [];
    return { id: id as RuleId, statement, tests: own, outcome: outcomeOf(own) };
  });
}

/** A rule holds when all of its tests that ran have passed; skipped tests don't count. */
function outcomeOf(tests: readonly RuleTest[]): RuleResult['outcome'] {
  if (tests.some(({ outcome }) => outcome === 'failed')) return 'failed';
  return tests.some(hasPassed) ? 'passed' : 'untested';
}

const hasPassed = ({ outcome }: RuleTest): boolean => outcome === 'passed';

function totalOf(contract: readonly RuleResult[], isWhole: boolean): string {
  const count = (wanted: RuleResult['outcome']) => contract.filter(({ outcome }) => outcome === wanted).length;
  const all = `${contract.length} ${isWhole ? 'rules' : `of ${Object.keys(rules).length} rules`}`;
  return `${all}: ${count('passed')} hold, ${count('failed')} fail, ${count('untested')} without a test.`;
}

function terminalLines({ id, statement, tests, outcome }: RuleResult): string {
  const named = tests.map(({ guarantee, outcome: result }) => `${marks[result]} ${guarantee}`).join(' · ');
  return `${marks[outcome]} ${id}: ${statement}\n    ${named === '' ? 'no test' : named}\n`;
}

function markdown(contract: readonly RuleResult[], total: string): string {
  const items = contract.map(({ id, statement, tests, outcome }) => {
    const named = tests.map(({ guarantee, outcome: result }) => `  - ${marks[result]} ${result}: ${guarantee}\n`);
    return `- ${marks[outcome]} **${id}** ${statement}\n${named.length === 0 ? '  - no test\n' : named.join('')}`;
  });
  return `# The public contract, rule by rule\n\n${total}\n\n${items.join('')}`;
}

function testFilesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.test.ts'));
}
