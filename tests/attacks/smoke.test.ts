import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownEnvironment } from '../support/journey-stack.ts';
import type { Attack, Target, Trial } from './attack.ts';
import { carryOutAll } from './run.ts';

const target: Target = { stack: {} as Target['stack'], traces: null, onEnd: () => undefined };

const topic = (name: string, ...checks: [string, (trial: Trial) => Promise<void> | void][]): Attack => ({
  name,
  about: name,
  checks: () => Promise.resolve(checks.map(([check, run]) => ({ name: check, run: async (trial) => run(trial) }))),
});

async function attacks(...words: string[]): Promise<{ code: number; output: string }> {
  return promisify(execFile)(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], {
    env: ownEnvironment(),
  }).then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    (error: unknown) => {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, output: stdout + stderr };
    },
  );
}

test('a row is held when every attempt holds, and open when one does not, nothing was tried, or it failed with an error', async () => {
  const said: string[] = [];
  const rows = await carryOutAll(
    [
      topic(
        'rows',
        ['good', (trial) => trial.same('one', [1, { a: 2 }], [1, { a: 2 }])],
        ['different', (trial) => trial.same('one', 1, 2)],
        ['leaking', (trial) => trial.none(['a leak'])],
        ['idle', () => undefined],
        ['broken', () => Promise.reject(new Error('a cable'))],
        ['elsewhere', (trial) => trial.skip('not on this machine')],
      ),
      { ...topic('unprepared'), checks: () => Promise.reject(new Error('no stack')) },
    ],
    { target, part: '', say: (line) => said.push(line) },
  );
  expect(
    rows.map(({ check, tried, open, skipped }) => [check, tried, open.map((text) => text.split('\n')[0]), skipped]),
  ).toEqual([
    ['good', 1, [], null],
    ['different', 1, ['one: 1 instead of 2'], null],
    ['leaking', 1, ['a leak'], null],
    ['idle', 0, ['nothing was tried'], null],
    ['broken', 0, ['broke off: Error: a cable'], null],
    ['elsewhere', 0, [], 'not on this machine'],
    ['could be prepared', 0, ['broke off: Error: no stack'], null],
  ]);
  expect(said.join('\n')).toMatch(/ {2}held +1 {2}good\n {2}OPEN +1 {2}different\n +- one: 1 instead of 2\n/);
});

test('--part keeps only rows whose name contains its words', async () => {
  const some = topic('rows', ['one thing', (trial) => trial.none([])], ['another', (trial) => trial.none([])]);
  const rows = await carryOutAll([some], { target, part: 'one', say: () => undefined });
  expect(rows.map(({ check }) => check)).toEqual(['one thing']);
});

test('the command lists its topics and options, and an unknown topic is an error', async () => {
  const help = await attacks('--help');
  expect(help.code).toBe(0);
  for (const word of [
    'anonymous-neighbours',
    'floods',
    'forged',
    'objects',
    'operators',
    'paths',
    'secrets',
    'smuggling',
    'texts',
    'tokens',
    'webhook-urls',
    '--part',
    '--stack',
  ])
    expect(help.output).toContain(`  ${word}`);
  const unknown = await attacks('everything');
  expect(unknown).toMatchObject({ code: 1, output: expect.stringContaining('no topic is called everything') });
});

test('against a missing stack every topic is open, the report says so, and the command fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quittance-attacks-'));
  try {
    const [stack, report] = [join(folder, 'stack.json'), join(folder, 'report.json')];
    await writeFile(
      stack,
      JSON.stringify({ edge_url: 'http://127.0.0.1:1', gateway_url: 'http://127.0.0.1:1', services: {} }),
    );
    const { code, output } = await attacks('texts', 'floods', '--stack', stack, '--report', report);
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('2 checks tried 0 things: 0 held, 2 open'),
    });
    const { rows } = JSON.parse(await readFile(report, 'utf8')) as { rows: { topic: string; open: string[] }[] };
    expect(rows.map(({ topic, open }) => [topic, open.length])).toEqual([
      ['floods', 1],
      ['texts', 1],
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
