/** C0, C1 and delete; and characters that reorder the text around them, which could make it look like another. */
const controlCharacters = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** What is wrong with a text that people read, already in NFC; null when nothing is. Characters are code points. */
export function textProblem(text: string, maxCharacters: number): string | null {
  if (!text.isWellFormed()) return 'must be valid Unicode';
  const characters = Array.from(text).length;
  if (characters < 1 || characters > maxCharacters) return `must have 1 to ${maxCharacters} characters`;
  return controlCharacters.test(text) ? 'must not contain control characters' : null;
}
