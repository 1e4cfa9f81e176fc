import { Document, isCollection, visit } from 'yaml';

/*
 * An object becomes the text of a Helm template by way of YAML: strings in it stand for what Helm fills in. They consist of letters and digits,
 * so YAML quotes none of them, and contain their text, so nothing else needs to be kept.
 */

/** Stands for a value, or a part of one, that Helm computes: `{{ expression }}`. */
export const hole = (expression: string): string => `HOLE${hex(`{{ ${expression} }}`)}_`;

/**
 * As a key with the value null, or as an item of a list: stands for lines of the template at that place. `INDENT` in the text is the number of
 * spaces in front of them.
 */
export const lines = (text: string): string => `LINE${hex(text)}_`;

/** An entry of an object that stands for lines. */
export const entry = (text: string): Record<string, null> => ({ [lines(text)]: null });

/** A condition around items of a list. */
export const itemsIf = <T>(condition: string, ...items: T[]): (T | string)[] => [
  lines(`{{- if ${condition} }}`),
  ...items,
  // The condition is repeated, so that no two markers of one list are equal.
  lines(`{{- end }}{{/* ${condition} */}}`),
];

/** Text that Helm must leave as it is. Alerts and external-secrets use the same braces. */
export const literal = (text: string): string => text.replaceAll(/\{\{.*?\}\}/gs, (braces) => hole(`\`${braces}\``));

/** The value as an expression of Helm's: maps and texts. */
export function helmValue(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)} ${helmValue(field)}`);
  return `(dict ${fields.join(' ')})`;
}

/** The lines of a template, without a line break at the end. */
export function templateText(value: unknown): string {
  // Helm reads YAML 1.1, in which more words must be quoted, such as `on`.
  const document = new Document(value, { aliasDuplicateObjects: false, schema: 'yaml-1.1' });
  visit(document, {
    Scalar(_, node) {
      // Quoted, because the braces would otherwise begin a map.
      if (typeof node.value === 'string' && node.value.includes(`HOLE${hex('{{ `')}`)) node.type = 'QUOTE_SINGLE';
    },
    Collection(_, node) {
      const text = JSON.stringify(node.toJSON());
      // Short ones in one line, which halves the files.
      if (isCollection(node) && text.length < 90 && !/HOLE|LINE/.test(text)) node.flow = true;
    },
  });
  return document
    .toString({ lineWidth: 0, flowCollectionPadding: true })
    .trimEnd()
    .replaceAll(/^( *)(?:- )?(?:\? )?LINE([0-9a-f]+)_(?:: null)?$/gm, (_, indent: string, text: string) => {
      return unhex(text)
        .replaceAll('INDENT', String(indent.length))
        .replaceAll(/^(?=.)/gm, indent);
    })
    .replaceAll(/HOLE([0-9a-f]+)_/g, (_, text: string) => unhex(text));
}

const hex = (text: string): string => Buffer.from(text).toString('hex');

const unhex = (text: string): string => Buffer.from(text, 'hex').toString();
