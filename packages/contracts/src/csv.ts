/** Where a cell begins: in some locale, with some setting of an import, or for a tool that loses the quotes. */
const SEPARATORS = String.raw`,;\t\n\v\f\r\u0085\u2028\u2029\u060c\u061b`;

/** What a spreadsheet skips before it looks at a cell: blanks of any kind, what nobody sees, and quotes. */
const SKIPPED = String.raw`[\s\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800"]`;

/** A place right before `=`, `+`, `-` or `@`, full-width ones too, with which a cell begins. Apostrophes that stand there belong to it. */
const formulaStart = new RegExp(
  String.raw`(?<=^|[${SEPARATORS}])[${SKIPPED}--[${SEPARATORS}]]*'*(?=[=+\-@＝＋－＠])`,
  'gv',
);

/**
 * Makes text of what a spreadsheet would run as a formula: an apostrophe goes before the character that begins one. It goes in front of any
 * apostrophes that are there already, so a reader that takes one away from each such place has the exact text again.
 */
export const withoutFormulas = (text: string): string => text.replace(formulaStart, "$&'");

/** For csv-stringify: RFC 4180, and no cell that a spreadsheet would run, in whatever locale. All CSV of ours is written with these. */
export const csvOptions = {
  record_delimiter: 'windows',
  // A line break of one character, too, which is not the one that ends a line.
  quoted_match: /[\r\n]/,
  cast: { string: withoutFormulas },
};

/** Says "UTF-8" to a spreadsheet, which otherwise reads the bytes in the encoding of its locale. */
export const BYTE_ORDER_MARK = '\ufeff';
