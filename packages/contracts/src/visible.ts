/**
 * One character that a reader sees, as the source of a `u` regular expression. Letters and symbols that Unicode draws as nothing are none:
 * Hangul fillers and other default-ignorable ones, the blank Braille pattern, and blank notes and hieroglyphs.
 */
export const VISIBLE =
  '(?![\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}\\u{13441}\\u{13442}])[\\p{L}\\p{N}\\p{P}\\p{S}]';

const visible = new RegExp(VISIBLE, 'u');

/** Whether a text shows anything: blanks, joiners, fillers and marks without a letter are an empty name to whoever reads it. */
export const isVisible = (text: string): boolean => visible.test(text);
