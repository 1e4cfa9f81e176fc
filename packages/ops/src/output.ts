/** Prints a command's result to stdout: JSON for machines, else text for people. Everything else is said on stderr. */
export function printResult(value: unknown, { json = false }: { json?: boolean }): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : humanText(value)}\n`);
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

function recordText(record: Row): string {
  const entries = Object.entries(record);
  // {"merchants": […]} is a list with an envelope for machines.
  if (entries.length === 1 && Array.isArray(entries[0]?.[1])) return listText(entries[0][1]);
  const flat = entries.filter(([, value]) => !isNested(value));
  const width = Math.max(0, ...flat.map(([name]) => name.length));
  const lines = flat.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`);
  const sections = entries
    .filter(([, value]) => isNested(value))
    .map(([name, value]) => `${name}\n${indent(humanText(value))}`);
  return [...(lines.length > 0 ? [lines.join('\n')] : []), ...sections].join('\n\n');
}

function listText(list: unknown[]): string {
  if (list.length === 0) return '(none)';
  const rows = list.map((item) => (isRow(item) ? item : { value: item }));
  // A cell is no place for a list; such rows are shown one below the other.
  if (rows.some((row) => Object.values(row).some(isNested))) return rows.map(recordText).join('\n\n');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const table = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_name, column) => Math.max(...table.map((line) => line[column]?.length ?? 0)));
  return table
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;
const indent = (text: string): string => text.replace(/^(?=.)/gm, '  ');

// Control characters would let a description or a merchant's name write anything on the operator's terminal.
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  // eslint-disable-next-line no-control-regex -- these are the characters to take out
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
}
