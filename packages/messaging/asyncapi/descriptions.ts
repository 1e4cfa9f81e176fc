import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** What the docstrings of a type say: of the type itself, and of its fields by name. */
export type Description = { text: string; fields: Record<string, string> };

const contracts = fileURLToPath(new URL('../../contracts/src', import.meta.url));

/**
 * The docstrings of every exported object type in the contracts, by the type's name. The sentences a programmer reads
 * in the code are the ones in the document: written once, they cannot disagree.
 */
export function readDescriptions(): Record<string, Description> {
  const aliases = [contracts, join(contracts, 'messages')].flatMap(sourceFiles).flatMap(typeAliases);
  const byName = new Map(aliases.map((alias) => [alias.name.text, alias]));

  function fieldsOf(type: ts.TypeNode): Record<string, string> {
    if (ts.isIntersectionTypeNode(type))
      return Object.assign({}, ...type.types.map(fieldsOf)) as Record<string, string>;
    if (ts.isTypeReferenceNode(type)) {
      const referred = byName.get(type.typeName.getText());
      return referred ? fieldsOf(referred.type) : {};
    }
    if (!ts.isTypeLiteralNode(type)) return {};
    const documented = type.members.map((member) => [member.name?.getText() ?? '', docstring(member)] as const);
    return Object.fromEntries(documented.filter(([, text]) => text !== ''));
  }

  return Object.fromEntries(
    aliases.map((alias) => [alias.name.text, { text: docstring(alias), fields: fieldsOf(alias.type) }]),
  );
}

function sourceFiles(directory: string): ts.SourceFile[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.ts'));
  return names.map((name) =>
    ts.createSourceFile(name, readFileSync(join(directory, name), 'utf8'), ts.ScriptTarget.Latest, true),
  );
}

function typeAliases(file: ts.SourceFile): ts.TypeAliasDeclaration[] {
  return file.statements.filter(ts.isTypeAliasDeclaration);
}

/** The docstring as one line. */
function docstring(node: ts.Node): string {
  const [comment] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc);
  const text = ts.getTextOfJSDocComment(comment?.comment) ?? '';
  return text.replaceAll(/\s+/g, ' ').trim();
}
