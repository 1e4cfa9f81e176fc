/** Strings, and the punctuation that decides which of them are names. Linear: every character is read once. */
const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Names that occur more than once in one object of a valid JSON text, at any depth. JSON.parse would keep the last one silently. */
export function repeatedNames(text: string): string[] {
  const repeated: string[] = [];
  const open: Set<string>[] = [];
  let lastString = '""';
  for (const [token] of text.matchAll(tokens)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token !== ':') lastString = token;
    else {
      const name = JSON.parse(lastString) as string;
      if (open.at(-1)?.has(name) === true) repeated.push(name);
      open.at(-1)?.add(name);
    }
  }
  return repeated;
}
