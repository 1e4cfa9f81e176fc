/**
 * One visible character, as the source of a `u` regular expression. Letters and symbols that Unicode draws as nothing
 * don't count: Hangul fillers and other default-ignorable characters, the blank Braille pattern, and blank notes and
 * hieroglyphs.
 */
export const VISIBLE =
  '(?![\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}\\u{13441}\\u{13442}])[\\p{L}\\p{N}\\p{P}\\p{S}]';

const visible = new RegExp(VISIBLE, 'u');

/** Whether a text shows anything. White space, joiners, fillers and marks without a letter look like an empty name. */
export const isVisible = (text: string): boolean => visible.test(text);
