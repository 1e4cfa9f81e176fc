import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import ConformanceReport from './report.ts';
import { rules } from './rules.ts';

type Test = { title: string; status: string };
type File = { testFilePath: string; testResults: Test[] };
type Options = { files?: string[]; name?: string; path?: boolean; others?: File[] };

const all: Test[] = Object.keys(rules).map((id) => ({ title: `[${id}] ${id} holds`, status: 'passed' }));
const without = (id: string): Test[] => all.filter(({ title }) => !title.startsWith(`[${id}]`));

describe('the report of the public contract', () => {
  let rootDir: string;
  let printed: string;

  beforeEach(async () => {
    rootDir = await mkdtemp(join(tmpdir(), 'quittance-report-'));
    await mkdir(join(rootDir, 'tests', 'conformance'), { recursive: true });
    for (const name of ['one.test.ts', 'two.test.ts', 'helper.ts']) {
      await writeFile(join(rootDir, 'tests', 'conformance', name), '');
    }
    printed = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      printed += String(text);
      return true;
    });
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await rm(rootDir, { recursive: true });
  });

  /** The error after a run of these files, with these tests in the first file. */
  function run(tests: Test[], options: Options = {}): Error | undefined {
    const { files = ['one', 'two'], name = '', path = false, others = [] } = options;
    const report = new ConformanceReport({ rootDir, testNamePattern: name, testPathPatterns: { isSet: () => path } });
    const testResults = files.map((file, index) => ({
      testFilePath: join(rootDir, 'tests', 'conformance', `${file}.test.ts`),
      testResults: index === 0 ? tests : [],
    }));
    report.onRunComplete(new Set(), { testResults: [...testResults, ...others] });
    return report.getLastError();
  }

  const written = () => readFile(join(rootDir, '.local', 'conformance.md'), 'utf8');

  test('lists every rule with its tests, and names its file', async () => {
    expect(run(all)).toBeUndefined();
    for (const [id, statement] of Object.entries(rules)) {
      expect(printed).toContain(`✓ ${id}: ${statement}\n    ✓ ${id} holds\n`);
      expect(await written()).toContain(`- ✓ **${id}** ${statement}\n  - ✓ passed: ${id} holds\n`);
    }
    expect(printed).toContain(`${all.length} rules: ${all.length} hold, 0 fail, 0 without a test.`);
    expect(printed).toContain(join('.local', 'conformance.md'));
  });

  test.each([
    ['no test', without('auth.1')],
    ['only a failed test', [...without('auth.1'), { title: '[auth.1] holds', status: 'failed' }]],
    ['only a skipped test', [...without('auth.1'), { title: '[auth.1] holds', status: 'pending' }]],
  ])('fails a complete run in which a rule has %s', (_, tests) => {
    expect(run(tests)).toMatchObject({ message: 'rules without a test that passed: auth.1' });
  });

  test('counts one test for each of the rules in its name', () => {
    const tests = [...without('auth.1'), { title: '[errors.401 auth.1] both hold', status: 'passed' }];
    expect(run(tests)).toBeUndefined();
    expect(printed).toContain('    ✓ errors.401 holds · ✓ both hold\n');
  });

  test.each([
    ['a name', { name: 'auth' }],
    ['a path', { path: true }],
    ['fewer files', { files: ['one'] }],
  ])(
    'of a run for %s shows what was run, fails nothing and keeps the file of the last complete run',
    async (_, filter) => {
      const tests = [
        { title: '[auth.2] holds', status: 'passed' },
        { title: '[auth.1] holds', status: 'pending' },
      ];
      expect(run(tests, filter)).toBeUndefined();
      expect(printed).toContain('✓ auth.2: ');
      expect(printed).not.toContain('auth.1: ');
      expect(printed).not.toContain('conformance.md');
      await expect(written()).rejects.toThrow();
    },
  );

  test('counts no test of another folder, whatever its name', () => {
    const elsewhere = { testFilePath: join(rootDir, 'tests', 'other.test.ts'), testResults: all };
    expect(run(without('auth.1'), { others: [elsewhere] })).toMatchObject({
      message: expect.stringMatching(/: auth\.1$/),
    });
  });

  test('says nothing when no test of the contract was run', async () => {
    run(all, { files: ['../elsewhere/three'] });
    run([{ title: 'no rule', status: 'passed' }], { path: true });
    expect(printed).toBe('');
    await expect(written()).rejects.toThrow();
  });
});
