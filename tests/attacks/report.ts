import type { Tried } from './attack.ts';

/** The result of one check of a topic. */
export type Row = { topic: string; check: string; seconds: number } & Tried;

const state = ({ open, skipped }: Row): string => (open.length > 0 ? 'OPEN' : skipped === null ? 'held' : 'skipped');

/** One line for a row, followed by its problems. */
export function lineOf(row: Row): string {
  const line = `  ${state(row).padEnd(8)}${String(row.tried).padStart(6)}  ${row.check}`;
  const why = row.skipped === null ? [] : [`${' '.repeat(16)}${row.skipped}`];
  return [line, ...why, ...row.open.map((text) => `${' '.repeat(16)}- ${text}`)].join('\n');
}

/** The summary: what was tried, and what is open. */
export function summaryOf(rows: readonly Row[]): string {
  const count = (wanted: string) => rows.filter((row) => state(row) === wanted).length;
  const tried = rows.reduce((sum, row) => sum + row.tried, 0);
  const open = rows.filter((row) => row.open.length > 0);
  const lines = [
    `${rows.length} checks tried ${tried} things: ${count('held')} held, ${open.length} open, ${count('skipped')} skipped`,
    ...open.map(({ topic, check }) => `  open: ${topic}: ${check}`),
  ];
  return lines.join('\n');
}
