import type { Pair, Part, Table, Value, View } from '@quittance/operator/view.ts';
import { shortTime } from '@quittance/operator/view.ts';

/** What an answer shows, as text for a terminal: its parts one below the other. */
export const viewText = (view: View): string => view.map(partText).join('\n\n');

function partText(part: Part): string {
  const text = contentText(part);
  return part.title === null ? text : `${part.title}\n${text.replace(/^(?=.)/gm, '  ')}`;
}

function contentText(part: Part): string {
  // It may be anything, so each line is made harmless by itself.
  if (part.kind === 'text') return part.text.split('\n').map(oneLine).join('\n');
  return part.kind === 'facts' ? factsText(part.fields) : tableText(part);
}

/** One line a field: its name, then what it holds. */
function factsText(fields: readonly (readonly [label: string, value: Value])[]): string {
  const width = Math.max(0, ...fields.map(([label]) => label.length));
  return fields.map(([label, value]) => `${label.padEnd(width)}  ${cellText(value)}`.trimEnd()).join('\n');
}

/** Rows under their labels, aligned; numbers to the right. An empty list says so. */
function tableText({ labels, rows }: Table): string {
  if (rows.length === 0) return '(none)';
  // What may be done about a row is in the console.
  const shown = labels.flatMap((label, at) => (label === 'actions' ? [] : [at]));
  const texts = [labels, ...rows.map((row) => row.map(cellText))];
  const widths = labels.map((_label, at) => Math.max(...texts.map((line) => widthOf(line[at] ?? ''))));
  const isNumeric = labels.map((_label, at) => isNumbers(rows.map((row) => row[at])));
  const lineOf = (line: readonly string[]) =>
    shown.map((at) => aligned(line[at] ?? '', widths[at] ?? 0, isNumeric[at] === true)).join('  ');
  return texts.map((line) => lineOf(line).trimEnd()).join('\n');
}

/** A cell as it is printed: missing values are a dash, times are short and say that they are UTC. */
const cellText = (value: Value): string => (value === null || value === undefined ? '-' : oneLine(plain(value)));

function plain(value: NonNullable<Value>): string {
  if (typeof value === 'string') return shortTime(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return value.map((one) => (one === null || one === undefined ? '' : plain(one))).join('');
  if ('badge' in value) return value.badge;
  if ('used' in value) return `${value.label}: ${value.used} of ${value.limit}`;
  if ('amount' in value) return value.currency === null ? value.amount : `${value.amount} ${value.currency}`;
  if ('hash' in value) return value.hash;
  if ('first' in value) return pairText(value);
  if ('candidates' in value) return candidatesText(value.candidates) ?? 'may be for a payment of another merchant';
  return value.label;
}

const pairText = ({ first, second }: Pair): string =>
  [first, second].flatMap((one) => (one === null || one === undefined || one === '' ? [] : [plain(one)])).join(' · ');

const isList = (value: object): value is readonly Value[] => Array.isArray(value);

/** How many ids fit next to other columns; the JSON has them all. */
const NAMED_MAX = 3;

/** One payment alone is named as it is, several are counted. */
function candidatesText(candidates: readonly string[]): string | null {
  const [only, ...others] = candidates;
  if (only === undefined || others.length === 0) return only ?? null;
  const more = candidates.length - NAMED_MAX;
  const named = candidates.slice(0, NAMED_MAX).join(', ');
  return `may be for ${candidates.length} payments: ${named}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Text from outside, for the operator's terminal: what would move the cursor, begin a new line, turn the direction of
 * writing or show nothing at all becomes a space.
 */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ');

/** At most `length` characters, with an ellipsis in the place of the rest. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;

const isNumbers = (column: readonly Value[]): boolean =>
  column.some((cell) => isNumber(cell)) && column.every((cell) => isNumber(cell ?? 0));

const isNumber = (cell: Value): boolean =>
  typeof cell === 'number' || (typeof cell === 'object' && cell !== null && 'amount' in cell);

const aligned = (text: string, width: number, right: boolean): string => {
  const padding = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? padding + text : text + padding;
};

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff00-\uff60]/u;

/** Columns on a terminal: a Chinese character or an emoji takes two, an accent none. */
function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  return [...graphemes.segment(text)].reduce((width, { segment }) => width + (WIDE.test(segment) ? 2 : 1), 0);
}

/** Prints a command's result to stdout: JSON for machines, exactly as the services gave it, else the view for people. */
export function printResult<T>(value: T, { json = false }: { json?: boolean }, view: (value: T) => View): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : viewText(view(value))}\n`);
}

/** Prints a hint for a person to stderr: stdout has only the result, which contains the same for a program. */
export function note(text: string, { json = false }: { json?: boolean }): void {
  if (!json) process.stderr.write(`${text}\n`);
}
