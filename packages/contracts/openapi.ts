import { readFileSync, writeFileSync } from 'node:fs';
import { parse, stringify } from 'yaml';
import { components, eventProperties } from './src/api/components.ts';
import { type KeptName, keptNames, optionParts } from './src/api/creation.ts';

const file = new URL('../../docs/openapi.yaml', import.meta.url);

const eventSchemas = ['WebhookEvent', 'WebhookNotice'];
/** A string of several lines is written as a literal block, as people write YAML. */
const style = { lineWidth: 120, blockQuote: 'literal', singleQuote: true, aliasDuplicateObjects: false } as const;

/**
 * docs/openapi.yaml with the components that are generated from src/api. The rest is written by people and kept
 * unchanged.
 */
export function withComponents(yaml: string): string {
  const written = (parse(yaml) as Document).components.schemas;
  const wanted: Schemas = { ...components };
  for (const name of eventSchemas) wanted[name] = withEventProperties(written[name] ?? {});
  return Object.entries(wanted)
    .filter(([name, schema]) => stringify(schema) !== stringify(written[name]))
    .reduce((text, [name, schema]) => replaceSchema(text, name, schema), withExamples(yaml));
}

/** Each example of a payment shows a new option as absent, after the option before it. */
const withExamples = (yaml: string): string =>
  keptNames.reduce((text, name, position) => {
    const before = keptNames[position - 1];
    if (before === undefined) return text;
    const line = new RegExp(
      `^( +)${before}: .*\\n(?=\\1(?!${name}:)(?:${[...keptNames, 'requested_amount'].join('|')}):)`,
      'gm',
    );
    return text.replace(
      line,
      (match, indent: string) => `${match}${indent}${name}: ${JSON.stringify(absentOf(name))}\n`,
    );
  }, yaml);

const absentOf = (name: KeptName): unknown => optionParts(keptNames, 'absent')[name] ?? null;

type Schemas = Record<string, Schema>;
type Schema = { properties?: Record<string, object> };
type Document = { components: { schemas: Schemas } };

/** A new field comes after those that the event already repeats. */
function withEventProperties(schema: Schema): Schema {
  const properties = Object.entries(schema.properties ?? {});
  const place = properties.findIndex(([name]) => name in eventProperties);
  const others = properties.filter(([name]) => !(name in eventProperties));
  const entries = [...others.slice(0, place), ...Object.entries(eventProperties), ...others.slice(place)];
  return { ...schema, properties: Object.fromEntries(entries) };
}

function replaceSchema(yaml: string, name: string, schema: object): string {
  const block = new RegExp(`^    ${name}:(?: \\{\\})?\\n(?:(?: {5,}.*)?\\n)*`, 'm');
  const text = stringify({ [name]: schema }, style).replaceAll(/^(?=.)/gm, '    ');
  if (!block.test(yaml))
    throw new Error(`docs/openapi.yaml has no schema ${name}: add "    ${name}: {}" where it belongs`);
  return yaml.replace(block, () => text);
}

if (import.meta.main) writeFileSync(file, withComponents(readFileSync(file, 'utf8')));
