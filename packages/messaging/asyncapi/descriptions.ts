import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** The docstrings of a message: of the message itself, and of its fields by name. */
export type Description = { text: string; fields: Record<string, string> };

const messages = fileURLToPath(new URL('../../contracts/src/messages.ts', import.meta.url));

/**
 * The docstrings of every message in the contracts, by message name. The document uses the sentences that programmers read in the code, so
 * the two cannot differ. A field without a docstring has that of the shared field it is made of.
 */
export function readDescriptions(): Record<string, Description> {
  const declarations = constants(messages);
  const shared = declarations.find(({ name }) => name === 'fields')?.fields ?? {};
  return Object.fromEntries(
    declarations.map(({ name, text, fields }) => {
      const texts = Object.entries(fields).map(([field, own]) => [field, own.text || (shared[own.from]?.text ?? '')]);
      return [
        name,
        { text, fields: Object.fromEntries(texts.filter(([, found]) => found !== '')) as Description['fields'] },
      ];
    }),
  );
}

/** The exported constants of a file, with every field assigned in it. */
function constants(path: string) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
  return file.statements.filter(ts.isVariableStatement).map((statement) => ({
    name: statement.declarationList.declarations[0]?.name.getText() ?? '',
    text: docstring(statement),
    fields: Object.fromEntries(assignments(statement).map((field) => [field.name.getText(), fieldOf(field)])),
  }));
}

/** @returns the field's docstring, and `count` for `nullable(fields.count)`. */
const fieldOf = (field: ts.PropertyAssignment) => ({
  text: docstring(field),
  from: /\bfields\.(\w+)/.exec(field.initializer.getText())?.[1] ?? '',
});

function assignments(node: ts.Node): ts.PropertyAssignment[] {
  const below = ts.isPropertyAssignment(node) ? [node] : [];
  node.forEachChild((child) => void below.push(...assignments(child)));
  return below;
}

/** The docstring as one line. */
function docstring(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? '';
  return text.replaceAll(/\s+/g, ' ').trim();
}
