/** Characters after which a cell begins: in some locale, with some import setting, or in a tool that ignores quotes. */
const SEPARATORS = String.raw`,;\t\n\v\f\r\u0085\u2028\u2029\u060c\u061b`;

/** What a spreadsheet skips at the beginning of a cell: white space of any kind, invisible characters, and quotes. */
const SKIPPED = String.raw`[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800"]`;

/**
 * The place right before `=`, `+`, `-` or `@` (or their full-width forms) at the beginning of a cell. It includes
 * apostrophes that are already there.
 */
const formulaStart = new RegExp(
  String.raw`(?<=^|[${SEPARATORS}])[${SKIPPED}--[${SEPARATORS}]]*'*(?=[=+\-@＝＋－＠])`,
  'gv',
);

/**
 * Turns what a spreadsheet would run as a formula into text: an apostrophe goes before the character that begins it,
 * and before any apostrophes that are already there. A reader that removes one apostrophe at each such place has the
 * exact text again.
 */
export const withoutFormulas = (text: string): string => text.replace(formulaStart, "$&'");

/**
 * Options for csv-stringify: RFC 4180, with no cell that a spreadsheet would run, in any locale. All our CSV is written
 * with these.
 */
export const csvOptions = {
  record_delimiter: 'windows',
  // Also quotes a single-character line break, which isn't the one that ends a line.
  quoted_match: /[\r\n]/,
  cast: { string: withoutFormulas },
};

/** Marks the file as UTF-8 for spreadsheets, which otherwise use the encoding of their locale. */
export const BYTE_ORDER_MARK = '\ufeff';
