import { cellText, record, sections, table, type Cell } from './text.ts';

/**
 * Prints a command's result to stdout: JSON for machines, exactly as the services gave it, else text for people.
 * @param view how people read it; without one every field is shown under its own name.
 */
export function printResult<T>(value: T, { json = false }: { json?: boolean }, view: (value: T) => string = humanText) {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : view(value)}\n`);
}

/** Says something beside the result, to a person: stdout keeps the result alone, and a program has it in the result. */
export function note(text: string, { json = false }: { json?: boolean }): void {
  if (!json) process.stderr.write(`${text}\n`);
}

/** A page of every list. One that is this long may not be the last. */
export const PAGE = 100;

/** Says how to go on after a full page. @param command what asks for the next page, given the last row of this one. */
export function noteOlder<T>(page: readonly T[], options: { json?: boolean }, command: (last: T) => string): void {
  const last = page.at(PAGE - 1);
  if (last !== undefined) note(`There may be older ones: ${command(last)}`, options);
}

type Row = Record<string, unknown>;

/**
 * Any answer as text: an object becomes lines of name and value, a list of objects a table, and what is nested follows below under
 * its name. Fields are shown as the services call them, so that a new one appears here without a change.
 */
export function humanText(value: unknown): string {
  if (Array.isArray(value)) return listText(value);
  if (isRow(value)) return recordText(value);
  return cell(value);
}

function recordText(row: Row): string {
  const entries = Object.entries(row);
  // {"merchants": […]} is a list with an envelope for machines.
  if (entries.length === 1 && Array.isArray(entries[0]?.[1])) return listText(entries[0][1]);
  const flat = entries.filter(([, value]) => !isNested(value)).map(([name, value]) => [name, value as Cell] as const);
  const nested = entries
    .filter(([, value]) => isNested(value))
    .map(([name, value]) => [name, humanText(value)] as const);
  return [...(flat.length > 0 ? [record(flat)] : []), ...nested.map((part) => sections([part]))].join('\n\n');
}

function listText(list: unknown[]): string {
  if (list.length === 0) return '(none)';
  const rows = list.map((item) => (isRow(item) ? item : { value: item }));
  // A cell is no place for a list; such rows are shown one below the other.
  if (rows.some((row) => Object.values(row).some(isNested))) return rows.map(recordText).join('\n\n');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    rows,
    names.map((name) => [name, (row: Row) => row[name] as Cell] as const),
  );
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;
const cell = (value: unknown): string => cellText(value as Cell);
