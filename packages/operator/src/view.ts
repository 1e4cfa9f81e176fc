/**
 * What an answer shows, as the command line prints it and the console renders it. A text that is a time or an id needs no mark: both
 * recognise it.
 */
export type View = readonly Part[];

export type Part =
  | { kind: 'text'; title: string | null; text: string }
  | { kind: 'facts'; title: string | null; fields: readonly (readonly [label: string, value: Value])[] }
  | Table;

export type Table = {
  kind: 'table';
  title: string | null;
  labels: readonly string[];
  rows: readonly (readonly Value[])[];
  /** What an empty list means, or what to do next. */
  empty?: string;
};

/** A list of values is shown as one text. */
export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | Badge
  | Link
  | Share
  | Candidates
  | Action
  | Amount
  | OnChain
  | Pair
  | readonly Value[];

/** One word out of a few, such as a status. */
export type Badge = { badge: string };
/** A page of the console. */
export type Link = { to: string; label: string };
/** How much of a limit is used. */
export type Share = { label: string; used: number; limit: number };
/** The payments that a transfer may be for. */
export type Candidates = { candidates: readonly string[]; candidates_elsewhere?: boolean };
/** A decimal amount. @property currency null where the label or the column names it. */
export type Amount = { amount: string; currency: string | null };
/** A transaction or an address. The network says at which explorer it can be looked up. */
export type OnChain = { hash: string; network: string };
/** Two facts about one thing, such as what was bought and the order. The first matters more. */
export type Pair = { first: Value; second: Value };
/** A command for a row of a table. Only the console shows it, and only to roles that may run it. */
export type Action = { action: string; label: string; values: Record<string, string> };

/** The columns of a table by their labels: each is a field of the row, or what is made of a row. */
export type Columns<Row> = Readonly<Record<string, FieldOf<Row> | ((row: Row) => Value)>>;
type FieldOf<Row> = {
  [name in keyof Row]: Row[name] extends string | number | boolean | null | undefined ? name : never;
}[keyof Row];

export const text = (content: string, title: string | null = null): Part => ({ kind: 'text', title, text: content });

export const facts = (fields: Readonly<Record<string, Value>>, title: string | null = null): Part => ({
  ...{ kind: 'facts', title, fields: Object.entries(fields) },
});

/**
 * @param title null if the page or the command already names the list.
 * @param empty what it means, or what to do next, when there are no rows.
 */
export function table<Row>(title: string | null, rows: readonly Row[], columns: Columns<Row>, empty?: string): Table {
  const cellsOf = (row: Row) =>
    Object.values(columns).map((column) => (typeof column === 'function' ? column(row) : (row[column] as Value)));
  const labels = Object.keys(columns);
  return { kind: 'table', title, labels, rows: rows.map(cellsOf), ...(empty !== undefined && { empty }) };
}

/** A table that is left out when it is empty. */
export const tableIfAny = <Row>(title: string, rows: readonly Row[], columns: Columns<Row>): Part[] =>
  rows.length === 0 ? [] : [table(title, rows, columns)];

export const badge = (word: string | null | undefined): Value => (word ? { badge: words(word) } : null);

export const amount = (digits: string | null | undefined, currency: string | null = 'USDT'): Value =>
  digits === null || digits === undefined ? null : { amount: digits, currency };

/** The transaction of a row. */
export const transactionOf = (row: { transaction_id: string; network: string }): Value => ({
  ...{ hash: row.transaction_id, network: row.network },
});

/** The wallet of a row. */
export const walletOf = (row: { merchant_wallet: string; network: string }): Value => ({
  ...{ hash: row.merchant_wallet, network: row.network },
});

export const words = (name: string): string => name.replaceAll('_', ' ');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const isTime = (content: string): boolean => TIME.test(content);

/** `2026-01-31T12:00:00.000Z` as `2026-01-31 12:00:00Z`; any other text stays as it is. */
export const shortTime = (content: string): string =>
  isTime(content) ? `${content.slice(0, 10)} ${content.slice(11, 19)}Z` : content;
