/** One model of schema.prisma, in the database's own names. */
export type PrismaTable = { table: string; columns: PrismaColumn[]; /** Column names. */ uniqueKeys: string[][] };
/** `type` is PostgreSQL's internal name (`int4`, `timestamptz`), with `[]` for a list. */
export type PrismaColumn = { column: string; type: string; nullable: boolean };

/** PostgreSQL's type for a Prisma scalar without a `@db.` attribute. */
const scalarTypes: Record<string, string> = {
  String: 'text',
  Int: 'int4',
  BigInt: 'int8',
  Boolean: 'bool',
  Float: 'float8',
  Decimal: 'numeric',
  DateTime: 'timestamp',
  Json: 'jsonb',
  Bytes: 'bytea',
};

/** PostgreSQL's type for a `@db.` attribute. */
const nativeTypes: Record<string, string> = {
  Text: 'text',
  VarChar: 'varchar',
  Char: 'bpchar',
  Uuid: 'uuid',
  Inet: 'inet',
  SmallInt: 'int2',
  Integer: 'int4',
  BigInt: 'int8',
  Decimal: 'numeric',
  Real: 'float4',
  DoublePrecision: 'float8',
  Boolean: 'bool',
  Timestamp: 'timestamp',
  Timestamptz: 'timestamptz',
  Date: 'date',
  Time: 'time',
  Timetz: 'timetz',
  Json: 'json',
  JsonB: 'jsonb',
  ByteA: 'bytea',
};

/**
 * Reads the models of a schema.prisma as `prisma format` writes it: one field per line, braces on their own lines.
 * Prisma's own parser is in an engine that this project never downloads, and the necessary grammar is small.
 * @throws Error for an unknown type, so that nothing stays unchecked.
 */
export function parsePrismaSchema(text: string): PrismaTable[] {
  const blocks = [...text.matchAll(/^\s*(model|enum)\s+(\w+)\s*\{\n([\s\S]*?)^\s*\}/gm)].map(
    ([, kind = '', name = '', body = '']) => ({
      kind,
      name,
      lines: body.split('\n').map(withoutComment).filter(Boolean),
    }),
  );
  const models = new Set(blocks.filter(({ kind }) => kind === 'model').map(({ name }) => name));
  const enums = new Map(
    blocks.filter(({ kind }) => kind === 'enum').map(({ name, lines }) => [name, mappedName(lines) ?? name]),
  );
  return blocks.filter(({ kind }) => kind === 'model').map(({ name, lines }) => readModel(name, lines, models, enums));
}

function readModel(name: string, lines: string[], models: Set<string>, enums: Map<string, string>): PrismaTable {
  const fields = lines
    .filter((line) => !line.startsWith('@@'))
    .map((line) => readField(name, line))
    .filter(({ type }) => !models.has(type)); // A relation is no column.
  const columnOf = new Map(fields.map(({ field, column }) => [field, column]));
  const modelKeys = lines.flatMap((line) => {
    const list = /^@@(?:id|unique)\s*\(\s*(?:fields:\s*)?\[([^\]]*)\]/.exec(line)?.[1];
    return list === undefined ? [] : [list.split(',').map((field) => field.trim())];
  });
  const fieldKeys = fields.filter(({ unique }) => unique).map(({ field }) => [field]);
  return {
    table: mappedName(lines) ?? name,
    columns: fields.map(({ column, type, list, optional, native }) => ({
      column,
      type: databaseType(`${name}.${column}`, type, native, enums) + (list ? '[]' : ''),
      nullable: optional,
    })),
    uniqueKeys: [...fieldKeys, ...modelKeys].map((key) => key.map((field) => columnOf.get(field) ?? field)),
  };
}

type Field = {
  field: string;
  column: string;
  type: string;
  list: boolean;
  optional: boolean;
  native: string | undefined;
  unique: boolean;
};

function readField(model: string, line: string): Field {
  const match = /^(\w+)\s+(\w+(?:\("[^"]+"\))?)(\[\])?(\?)?(.*)$/.exec(line);
  if (match === null) throw new Error(`schema.prisma, model ${model}: cannot read the line "${line}"`);
  const [, field = '', type = '', list, optional, attributes = ''] = match;
  return {
    field,
    column: /@map\(\s*(?:name:\s*)?"([^"]+)"\s*\)/.exec(attributes)?.[1] ?? field,
    type,
    list: list !== undefined,
    optional: optional !== undefined,
    native: /@db\.(\w+)/.exec(attributes)?.[1],
    unique: /@(?:id|unique)\b/.test(attributes),
  };
}

function databaseType(name: string, type: string, native: string | undefined, enums: Map<string, string>): string {
  const unsupported = /^Unsupported\("([^"]+)"\)$/.exec(type)?.[1];
  const known = unsupported ?? enums.get(type) ?? (native === undefined ? scalarTypes[type] : nativeTypes[native]);
  if (known === undefined) {
    throw new Error(`schema.prisma, ${name}: type ${native === undefined ? type : `@db.${native}`} is not known here`);
  }
  return known;
}

const mappedName = (lines: string[]): string | undefined =>
  lines.map((line) => /^@@map\(\s*(?:name:\s*)?"([^"]+)"\s*\)/.exec(line)?.[1]).find((name) => name !== undefined);

// A `//` inside a quoted default (such as a URL) doesn't start a comment.
const withoutComment = (line: string): string => line.replace(/^((?:[^"/]|"[^"]*"|\/(?!\/))*)\/\/.*$/, '$1').trim();
