import type { Aim } from '../benchmark.ts';
import { boundOf, renderSpread, verdictOf } from './report.ts';

/** What one part gave: its aims, or why there are none. */
export type PartOutcome = {
  name: string;
  seconds: number;
  aims: readonly Aim[];
  /** What broke, or what this machine lacks. */
  failures: readonly string[];
};

type MachineReport = {
  model: string;
  cores: number;
  memoryBytes: number;
  /** Load averages of the last minute. */
  load: { before: number; after: number };
};

export type SummaryReport = {
  /** As it was typed. */
  command: string;
  startedAt: Date;
  seconds: number;
  machine: MachineReport;
  /** Of Node, the servers and the peers, by name. */
  versions: Record<string, string>;
  parts: readonly PartOutcome[];
};

const columns = ['part', 'aim', 'figure (least–greatest)', 'bound', 'verdict'];

/** Markdown that is also readable in a terminal: every aim with its figure, then what the figures were measured on. */
export function renderSummary({ command, startedAt, seconds, machine, versions, parts }: SummaryReport): string {
  const { model, cores, memoryBytes, load } = machine;
  const rows = parts.flatMap(({ name, aims }) =>
    aims.map((aim) => [name, aim.what, renderSpread(aim.measured), boundOf(aim), verdictOf(aim)]),
  );
  const failures = parts.flatMap(({ name, failures }) => failures.map((failure) => `- **failed** ${name}: ${failure}`));
  return [
    `# ${command}`,
    '',
    countsOf(parts),
    '',
    ...(rows.length === 0 ? [] : [...markdownTable(columns, rows), '']),
    ...(failures.length === 0 ? [] : [...failures, '']),
    `- Day: ${startedAt.toISOString().slice(0, 10)}, ${minutes(seconds)}`,
    `- Machine: ${cores} cores (${model}), ${Math.round(memoryBytes / 2 ** 30)} GB; load ${load.before.toFixed(1)} before, ${load.after.toFixed(1)} after`,
    `- Versions: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `- Times: ${parts.map(({ name, seconds }) => `${name} ${minutes(seconds)}`).join(', ')}`,
  ].join('\n');
}

/** How many aims of all parts have each verdict. */
function countsOf(parts: readonly PartOutcome[]): string {
  const verdicts = parts.flatMap(({ aims }) => aims.map(verdictOf));
  const count = (start: string): number => verdicts.filter((verdict) => verdict.startsWith(start)).length;
  const counts = { met: count('met'), missed: count('missed'), 'baseline broken': count('baseline broken') };
  const failed = parts.flatMap(({ failures }) => failures).length;
  return Object.entries({ ...counts, 'not measured': count('not measured'), failed })
    .filter(([verdict, many]) => verdict === 'met' || many > 0)
    .map(([verdict, many]) => `${many} ${verdict}`)
    .join(', ');
}

function markdownTable(header: readonly string[], rows: readonly string[][]): string[] {
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', String.raw`\|`)));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [first = [], ...others] = cells;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...others.map(line)];
}

const minutes = (seconds: number): string => (seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`);
