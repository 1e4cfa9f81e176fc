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

export const renderSpread = ({ median, min, max }: Spread): string =>
  `${significant(median)} (${significant(min)}–${significant(max)})`;

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

function renderAim(aim: Aim): string {
  const bound = 'atLeast' in aim ? `at least ${aim.atLeast}` : `at most ${aim.atMost}`;
  return `${isMet(aim) ? 'met   ' : 'missed'}  ${aim.what}: ${renderSpread(aim.measured)}, aim ${bound}`;
}

/** The median decides. A ratio that could not be measured misses its aim. */
export const isMet = (aim: Bound & Pick<Aim, 'measured'>): boolean =>
  'atLeast' in aim ? aim.measured.median >= aim.atLeast : aim.measured.median <= aim.atMost;
