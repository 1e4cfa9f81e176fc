/** What a cell may hold; a list or an object is no cell. */
export type Cell = string | number | boolean | null | undefined;
/** The columns of a table by their titles: each is a field of the row, or what is made of a row. */
export type Columns<Row> = Readonly<Record<string, FieldOf<Row> | ((row: Row) => Cell)>>;
type FieldOf<Row> = { [name in keyof Row]: Row[name] extends Cell ? name : never }[keyof Row];

/** Rows under their titles, aligned; numbers to the right. An empty list says so. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  if (rows.length === 0) return '(none)';
  const titles = Object.keys(columns);
  const cells = rows.map((row) =>
    Object.values(columns).map((cell) => (typeof cell === 'function' ? cell(row) : (row[cell] as Cell))),
  );
  const texts = [titles, ...cells.map((line) => line.map(cellText))];
  const widths = titles.map((_title, at) => Math.max(...texts.map((line) => widthOf(line[at] ?? ''))));
  const isNumeric = titles.map((_title, at) => isNumbers(cells.map((line) => line[at])));
  return texts
    .map((line) =>
      line
        .map((text, at) => aligned(text, widths[at] ?? 0, isNumeric[at] === true))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One line a field: its name, then what it holds. */
export const record = (fields: Readonly<Record<string, Cell>>): string => lines(Object.entries(fields));

/** The same for fields whose names the services choose, which may be equal. */
export function lines(fields: readonly (readonly [name: string, value: Cell])[]): string {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${cellText(value)}`.trimEnd()).join('\n');
}

/** Parts of a page, each under its title. */
export function sections(parts: readonly (readonly [title: string, text: string])[]): string {
  return parts.map(([title, text]) => `${title}\n${text.replace(/^(?=.)/gm, '  ')}`).join('\n\n');
}

/** A cell as it is printed: missing values are a dash, times are short and say that they are UTC. */
function cellText(value: Cell): string {
  if (value === null || value === undefined) return '-';
  return oneLine(typeof value === 'string' ? shortTime(value) : String(value));
}

/** `2026-01-31T12:00:00.000Z` as `2026-01-31 12:00:00Z`; any other text stays as it is. */
export const shortTime = (text: string): string =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? `${text.slice(0, 10)} ${text.slice(11, 19)}Z` : text;

/**
 * Text from outside, for the operator's terminal: what would move the cursor, begin a new line, turn the direction of
 * writing or show nothing at all becomes a space.
 */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, ' ');

/** At most `length` characters, with an ellipsis in the place of the rest. */
export const shortened = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).trimEnd()}…`;

const isNumbers = (column: readonly Cell[]): boolean =>
  column.some((cell) => typeof cell === 'number') && column.every((cell) => typeof (cell ?? 0) === 'number');

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
