import { randomInt } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import type { Fault, FaultResult } from './fault.ts';

/**
 * `npm run faults` carries out every fault, `npm run faults -- <name> …` those. Each gets the same seed and the test run's own
 * PostgreSQL and RabbitMQ, which are started here. The exit code is 1 when something did not hold.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string' },
    seed: { type: 'string', default: String(randomInt(1, 2 ** 31)) },
    path: { type: 'string' },
  },
});

const say = (line: string): void => console.log(line);
const seed = wholeNumber('seed', values.seed);
const runs = values.runs === undefined ? null : wholeNumber('runs', values.runs);

const faults = await chosen(positionals);
const backends = await startRunBackends();
Object.assign(process.env, backends.environment);
try {
  let broken = 0;
  for (const fault of faults) broken += (await carryOut(fault)) ? 0 : 1;
  if (broken > 0) process.exitCode = 1;
} finally {
  await backends.stop();
}

/** @returns whether everything held. */
async function carryOut(fault: Fault): Promise<boolean> {
  say(`\n${fault.name}: ${fault.about}\nseed ${seed}`);
  const startedAt = performance.now();
  const { broken, lines, repeat } = await runOne(fault);
  const seconds = (performance.now() - startedAt) / 1000;
  for (const line of lines) say(line);
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
    return await fault.run({ seed, runs, path: values.path ?? null, say, onEnd: (close) => closers.unshift(close) });
  } finally {
    for (const close of closers) await close();
  }
}

/** @throws Error for a name that no fault has. */
async function chosen(names: readonly string[]): Promise<Fault[]> {
  const suffix = '.fault.ts';
  const files = (await readdir(import.meta.dirname)).filter((file) => file.endsWith(suffix)).sort();
  const all = await Promise.all(
    files.map(async (file) => ((await import(join(import.meta.dirname, file))) as { fault: Fault }).fault),
  );
  const unknown = names.filter((name) => !all.some((fault) => fault.name === name));
  if (unknown.length > 0) {
    throw new Error(`no fault is called ${unknown.join(', ')}; there are: ${all.map(({ name }) => name).join(', ')}`);
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} must be a whole number above 0, not "${text}"`);
  return number;
}
