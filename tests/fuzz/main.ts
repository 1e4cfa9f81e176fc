import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startRunBackends } from '@quittance/testkit/run-backends.ts';
import { chooseByName, helpList } from '../support/named-files.ts';
import { readCorpus, writeCorpus } from './corpus.ts';
import { distil, explore, verdictOf, type Report } from './explore.ts';
import { allTargets } from './replay.ts';
import type { Json, Target } from './target.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
    input: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const all = await allTargets();

if (values.help) console.log(usage());
else await fuzz(chooseByName(all, positionals, 'target'));

async function fuzz(targets: readonly Target[]): Promise<void> {
  const backends = await startRunBackends();
  Object.assign(process.env, backends.environment);
  try {
    for (const target of targets) {
      console.log(`\n${target.name}: ${target.about}`);
      if (values.input === undefined) await exploreOne(target);
      else await putOne(target, JSON.parse(await readFile(values.input, 'utf8')) as Json);
    }
  } finally {
    await backends.stop();
  }
}

async function exploreOne(target: Target): Promise<void> {
  const seed = Number(values.seed ?? randomInt(1, 2 ** 31));
  const say = (line: string) => console.log(line);
  const untilMs = performance.now() + Number(values.minutes) * 60_000;
  const report = await explore(target, { isOver: () => performance.now() > untilMs, seed, say });
  console.log(summaryOf(report, seed));
  if (report.findings.length > 0) process.exitCode = 1;
  if (!values.keep) return;
  const kept = await distil(target, [...(await readCorpus(target.name)), ...report.kept], () => undefined);
  await writeCorpus(target.name, kept);
  console.log(`  ${kept.length} inputs are needed in the corpus`);
}

function summaryOf({ put, kept, outcomes, findings, residentBytes }: Report, seed: number): string {
  const came = Object.entries(outcomes)
    .sort(([, a], [, b]) => b - a)
    .map(([outcome, count]) => `${count} ${outcome}`);
  return `  ${put} inputs with seed ${seed}, ${kept.length} of them new, ${findings.length} findings; at most ${Math.round(
    residentBytes / 1e6,
  )} MB\n  ${came.slice(0, 12).join(', ')}`;
}

async function putOne(target: Target, input: Json): Promise<void> {
  const running = await target.start({});
  try {
    const { problems, outcome } = await verdictOf(running, input);
    const open = [...problems, ...(await running.check())];
    console.log(`  ${outcome}${open.map((problem) => `\n  - ${problem}`).join('')}`);
    if (open.length > 0) process.exitCode = 1;
  } finally {
    await running.close();
  }
}

function usage(): string {
  return `Usage: npm run fuzz -- [target …] [options]

Puts inputs to processes of the system and changes those that reach something new, until the time is over. Nothing may crash, answer 5xx,
get stuck or grow. Exit code 1 when something was found.

Targets:
${helpList(all.map(({ name, about }) => [name, about]))}

Options:
${helpList([
  ['--minutes <number>', 'how long for each target (2)'],
  ['--seed <number>', 'decides the changes; another one each time unless given'],
  ['--keep', 'puts what reached something new into tests/fuzz/corpus, and nothing that is not needed for it'],
  ['--input <file>', 'puts this input alone, and says what comes of it'],
  ['--help', 'this text'],
])}`;
}
