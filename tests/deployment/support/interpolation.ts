/**
 * Replaces ${NAME}, ${NAME:-default}, ${NAME:+replacement} (both may have nested forms), ${NAME:?} and $$ in every text of a document,
 * as Compose does.
 * @throws Error naming a required variable that is not set, or an unsupported form.
 */
export function interpolate(document: unknown, env: Record<string, string>): unknown {
  if (typeof document === 'string') return fill(document, env);
  if (Array.isArray(document)) return document.map((item) => interpolate(item, env));
  if (typeof document !== 'object' || document === null) return document;
  return Object.fromEntries(Object.entries(document).map(([name, value]) => [name, interpolate(value, env)]));
}

/** Every variable that a file uses, outside its comments. */
export function variablesIn(file: string): string[] {
  const text = file.replace(/^\s*#.*$/gm, '');
  return [...new Set([...text.matchAll(/(?<!\$)\$\{([A-Z_]+)/g)].map(([, name = '']) => name))].sort();
}

function fill(text: string, env: Record<string, string>): string {
  let filled = '';
  for (let position = 0; position < text.length; position += 1) {
    if (text[position] !== '$') {
      filled += text.charAt(position);
    } else if (text[position + 1] === '$') {
      filled += '$';
      position += 1;
    } else {
      const end = closing(text, position);
      filled += valueOf(text.slice(position + 2, end), env);
      position = end;
    }
  }
  return filled;
}

function valueOf(expression: string, env: Record<string, string>): string {
  const [, name, operator, rest = ''] = /^([A-Z_]+)(?:(:-|:\+|:\?)([^]*))?$/.exec(expression) ?? [];
  if (name === undefined) throw new Error(`"\${${expression}}" is not a supported form`);
  const value = env[name] ?? '';
  if (operator === ':+') return value === '' ? '' : fill(rest, env);
  if (value !== '') return value;
  if (operator === ':?') throw new Error(`${name} must be set`);
  return fill(rest, env);
}

/** Position of the brace that closes the one after the dollar sign. */
function closing(text: string, dollar: number): number {
  let depth = 0;
  for (let position = dollar + 1; position < text.length; position += 1) {
    if (text[position] === '{') depth += 1;
    if (text[position] === '}') depth -= 1;
    if (depth === 0) return position;
  }
  throw new Error(`a brace in "${text}" is never closed`);
}
