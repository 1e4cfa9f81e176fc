import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import { chooseByName, helpList, loadNamed } from '../support/named-files.ts';
import type { Fault, FaultResult } from './fault.ts';

/** Runs faults with the same seed, on one PostgreSQL and one RabbitMQ that are started here. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
    path: { type: 'string' },
    part: { type: 'string' },
    from: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const say = (line: string): void => console.log(line);
const seed = wholeNumber('seed', values.seed);
const runs = values.runs === undefined ? null : wholeNumber('runs', values.runs);
const all = await loadNamed<Fault>(import.meta.dirname, '.fault.ts', 'fault');

if (values.help) say(usage());
else await carryOutAll(chooseByName(all, positionals, 'fault'));

async function carryOutAll(faults: readonly Fault[]): Promise<void> {
  const backends = await startRunBackends();
  Object.assign(process.env, backends.environment);
  try {
    for (const fault of faults) {
      const held = await carryOut(fault).catch((error: unknown) => {
        say(`\nfailed  ${fault.name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
        return false;
      });
      if (!held) process.exitCode = 1;
    }
  } finally {
    await backends.stop();
  }
}

/** @returns whether everything held, or nothing could run. */
async function carryOut(fault: Fault): Promise<boolean> {
  say(`\n${fault.name}: ${fault.about}\nseed ${seed}`);
  const startedAt = performance.now();
  const { broken, lines, repeat, skipped } = await runOne(fault);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const line of lines) say(line);
  if (skipped !== undefined) {
    say(`\nSKIPPED ${fault.name}, which says nothing about whether it holds: ${skipped}`);
    return true;
  }
  if (broken.length === 0) {
    say(`\nheld    ${fault.name}, in ${seconds.toFixed(0)} s`);
    return true;
  }
  for (const [position, what] of broken.entries()) say(`\n${position + 1}. ${what}`);
  const whole = `${fault.name} --seed ${seed}${runs === null ? '' : ` --runs ${runs}`}`;
  say(`\nbroken  ${fault.name}, in ${seconds.toFixed(0)} s. To see it again: npm run faults -- ${repeat ?? whole}`);
  return false;
}

async function runOne(fault: Fault): Promise<FaultResult> {
  const closers: (() => Promise<void>)[] = [];
  try {
    return await fault.run({
      seed,
      runs,
      path: values.path ?? null,
      part: values.part ?? null,
      from: values.from ?? null,
      say,
      onEnd: (close) => closers.unshift(close),
    });
  } finally {
    for (const close of closers) await close();
  }
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} must be a whole number above 0, not "${text}"`);
  return number;
}

function usage(): string {
  return `Usage: npm run faults -- [name …] [options]

Carries out the named faults, or all of them. Exit code 1 when something did not hold, or a fault could not be carried out;
what failed says how to repeat it.

Faults:
${helpList(all.map(({ name, about }) => [name, about]))}

Options:
${helpList([
  ['--runs <n>', 'the size of the run, in the unit of the fault'],
  ['--seed <n>', 'decides every random choice; the same seed repeats the run (default: random)'],
  ['--path <path>', 'where an earlier run of model failed, as printed by it'],
  ['--part <name>', 'one row of neighbours, one part of engine, one step of cluster'],
  ['--from <revision>', 'the earlier version of upgrade and system'],
  ['--help', 'this text'],
])}`;
}
