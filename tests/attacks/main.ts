import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot, writePrivateJson } from '@quittance/local-stack/stack/directory.ts';
import type { StackFile } from '@quittance/local-stack/stack/stack-file.ts';
import { startCollector } from '@quittance/testkit/collector.ts';
import { journeyStack } from '../support/journey-stack.ts';
import { chooseByName, helpList, loadNamed } from '../support/named-files.ts';
import type { Attack, Target } from './attack.ts';
import { carryOutAll } from './run.ts';
import { summaryOf } from './report.ts';

/** One stack for all topics. They run one after the other, so that none is limited by requests of another. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: 'string', default: '' },
    stack: { type: 'string' },
    report: { type: 'string', default: join(repositoryRoot, '.local', 'attacks.json') },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const all = await loadNamed<Attack>(import.meta.dirname, '.attack.ts', 'attack');

if (values.help) console.log(usage());
else await attack(chooseByName(all, positionals, 'topic'));

async function attack(chosen: readonly Attack[]): Promise<void> {
  const closers: (() => Promise<void>)[] = [];
  const startedAt = new Date();
  try {
    const target = await targetOf((close) => void closers.unshift(close));
    const rows = await carryOutAll(chosen, { target, part: values.part, say: (line) => console.log(line) });
    if (rows.some(({ open }) => open.length > 0) || rows.length === 0) process.exitCode = 1;
    const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
    await writePrivateJson(values.report, { started_at: startedAt.toISOString(), seconds, rows });
    console.log(`\n${summaryOf(rows)}, in ${seconds} s; all of it is in ${values.report}`);
  } finally {
    for (const close of closers) await close();
  }
}

/** A given stack is used and left running; otherwise one is started that exports every trace to this process. */
async function targetOf(onEnd: Target['onEnd']): Promise<Target> {
  if (values.stack !== undefined) {
    const stack = JSON.parse(await readFile(values.stack, 'utf8')) as StackFile;
    return { stack, traces: null, onEnd };
  }
  const collector = await startCollector();
  onEnd(() => collector.close());
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER_ARG: '1' };
  const stack = await journeyStack({ settings });
  onEnd(() => stack.close());
  return { stack: stack.file, traces: () => collector.requests.map(({ body }) => body), onEnd };
}

function usage(): string {
  return `Usage: npm run attacks -- [topic …] [options]

Tries what an attacker would, through the edge of a running system and around it, and prints a row for each thing that must hold.
Exit code 1 when a row is open.

Topics:
${helpList(all.map(({ name, about }) => [name, about]))}

Options:
${helpList([
  ['--part <words>', 'only rows whose name has these words'],
  ['--stack <file>', 'the stack.json of a stack that runs already, instead of one that is started for this'],
  ['--report <file>', 'where the report goes as JSON (.local/attacks.json)'],
  ['--help', 'this text'],
])}`;
}
