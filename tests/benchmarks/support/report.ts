import type { Aim, BenchmarkResult, Bound, Table } from '../benchmark.ts';
import type { Spread } from './rounds.ts';

/** The result as text. */
export function renderResult({ tables, notes, aims }: BenchmarkResult): string {
  return [
    ...tables.filter(({ rows }) => rows.length > 0).map(renderTable),
    ['', ...notes].join('\n'),
    '',
    ...aims.map(renderAim),
  ].join('\n');
}

/** The median, and the range if there is one. */
export function renderSpread({ median, min, max }: Spread): string {
  if (Number.isNaN(median) || min === max) return significant(median);
  return `${significant(median)} (${significant(min)}–${significant(max)})`;
}

/** Two significant digits, or all digits before the point: as many as such measurements justify. */
export function significant(value: number | null): string {
  if (value === null || Number.isNaN(value)) return '–';
  return Math.abs(value) >= 100 ? Math.round(value).toLocaleString('en-US') : String(Number(value.toPrecision(2)));
}

/** A statement in one line of a table. */
export function shortened(query: string): string {
  const line = query.replace(/\s+/g, ' ').trim();
  return line.length > 70 ? `${line.slice(0, 69)}…` : line;
}

function renderTable({ title, columns, rows }: Table): string {
  const widths = columns.map((column, position) => {
    return Math.max(column.length, ...rows.map((row) => row[position]?.length ?? 0));
  });
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((cell, position) => {
      return position === 0 ? cell.padEnd(widths[position] ?? 0) : cell.padStart(widths[position] ?? 0);
    });
    return `  ${padded.join('  ')}`.trimEnd();
  };
  return [`\n${title}`, line(columns), ...rows.map(line)].join('\n');
}

const renderAim = (aim: Aim): string =>
  `${verdictOf(aim)}: ${aim.what}: ${renderSpread(aim.measured)}, aim ${boundOf(aim)}`;

export const boundOf = (bound: Bound): string =>
  'atLeast' in bound ? `at least ${plain(bound.atLeast)}` : `at most ${plain(bound.atMost)}`;

const plain = (bound: number): string => bound.toLocaleString('en-US', { maximumFractionDigits: 2 });

/** The median decides. A ratio to a broken baseline says nothing, whichever side of the bound it is on. */
export function verdictOf(aim: Aim): string {
  if (aim.brokenBaseline !== undefined) return `baseline broken (${aim.brokenBaseline})`;
  const { median } = aim.measured;
  if (Number.isNaN(median)) return 'not measured';
  if ('atLeast' in aim) return median >= aim.atLeast ? 'met' : missedBy(aim.atLeast - median, aim.atLeast);
  return median <= aim.atMost ? 'met' : missedBy(median - aim.atMost, aim.atMost);
}

/** In percent of the bound, if that is not 0. */
const missedBy = (difference: number, bound: number): string =>
  `missed by ${bound === 0 ? significant(difference) : `${significant((100 * difference) / bound)} %`}`;
