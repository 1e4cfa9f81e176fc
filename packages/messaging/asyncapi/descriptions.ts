import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** What the docstrings of a message say: of the message itself, and of its fields by name. */
export type Description = { text: string; fields: Record<string, string> };

const directory = fileURLToPath(new URL('../../contracts/src/messages/', import.meta.url));

/**
 * The docstrings of every message in the contracts, by its name. The sentences a programmer reads in the code are the ones in the
 * document: written once, they cannot disagree. A field without one has that of the shared field it is made of.
 */
export function readDescriptions(): Record<string, Description> {
  const declarations = readdirSync(directory).flatMap(constants);
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

/** The exported constants of a file, with every field that is assigned in it. */
function constants(name: string) {
  const file = ts.createSourceFile(name, readFileSync(directory + name, 'utf8'), ts.ScriptTarget.Latest, true);
  return file.statements.filter(ts.isVariableStatement).map((statement) => ({
    name: statement.declarationList.declarations[0]?.name.getText() ?? '',
    text: docstring(statement),
    fields: Object.fromEntries(assignments(statement).map((field) => [field.name.getText(), fieldOf(field)])),
  }));
}

/** @returns its text, and of `nullable(fields.count)` the `count`. */
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
