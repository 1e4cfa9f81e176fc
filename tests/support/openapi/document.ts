import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { parse } from 'yaml';

/** A place in the document (RFC 6901), and its content. */
export type Located<T> = { pointer: string; node: T };

export type Header = { required?: boolean; schema: object; example?: unknown };
export type Media = { schema: object; examples?: Record<string, object> };
export type Response = { headers?: Record<string, object>; content?: Record<string, object> };
export type Parameter = { name: string; in: string; required?: boolean; schema: object; example?: unknown };

export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: object[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, object>;
};

type PathItem = { parameters?: object[] } & Partial<Record<string, Operation>>;

export type OpenApi = {
  info: { version: string; description: string };
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  'x-outside-operations': Record<string, object>;
  components: { schemas: Record<string, object>; responses: Record<string, object> };
};

export const openApiFile = join(repositoryRoot, 'docs', 'openapi.yaml');

export const openApi = parse(readFileSync(openApiFile, 'utf8')) as OpenApi;

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options', 'trace'] as const;

const ROOT = 'openapi';
/** Misspelt keywords are errors. `required` next to `properties` elsewhere, as in `then`, is not. */
const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, allowUnionTypes: true });
formats.default(ajv);
// This lets a reference lead into the document. At its top level, these keywords say nothing about a value.
ajv.addVocabulary(Object.keys(openApi));
ajv.addSchema(closed(openApi) as object, ROOT);

/**
 * The published answers and events are open, so that clients accept fields that are added later. Here each object accepts only the listed
 * fields, so that an undocumented field of ours is noticed. Parts of combined schemas list no type, or no fields.
 */
function closed(node: unknown): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (Array.isArray(node)) return node.map(closed);
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([name, child]) => [name, closed(child)]),
  );
  return copy['type'] === 'object' && typeof copy['properties'] === 'object'
    ? { additionalProperties: false, ...copy }
    : copy;
}

const validators = new Map<string, ValidateFunction>();

/** The schema at this place, compiled once. */
function validatorAt(pointer: string): ValidateFunction {
  const known = validators.get(pointer);
  if (known !== undefined) return known;
  const compiled = ajv.compile({ $ref: `${ROOT}#${pointer.split('/').map(encodeURIComponent).join('/')}` });
  validators.set(pointer, compiled);
  return compiled;
}

/** @returns one line with every problem, or null when the value fits the schema at this place and has no unlisted field. */
export function problemOf(pointer: string, value: unknown): string | null {
  const validate = validatorAt(pointer);
  return validate(value) ? null : ajv.errorsText(validate.errors, { dataVar: '' });
}

/** The content of a place, with references followed. @throws Error when there is nothing. */
function at<T extends object>(pointer: string): Located<T> {
  let node: unknown = openApi;
  for (const token of pointer.split('/').slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[token.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  if (typeof node !== 'object' || node === null) throw new Error(`the OpenAPI document has nothing at ${pointer}`);
  const reference = (node as { $ref?: string }).$ref;
  return reference === undefined ? { pointer, node: node as T } : at<T>(reference.slice(1));
}

/** A child of a place, with references followed. */
export const below = <T extends object>(pointer: string, ...names: string[]): Located<T> =>
  at<T>([pointer, ...names.map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/'));

/** Every member of an object at a place, with references followed; none when the place is empty. */
export function members<T extends object>({ pointer, node }: Located<object>, name: string): [string, Located<T>][] {
  const children = (node as Record<string, object | undefined>)[name] ?? {};
  return Object.keys(children).map((child) => [child, below<T>(pointer, name, child)]);
}

/** The operations of the API, or the webhooks sent to merchants, in the order of the document. */
export function operations(section: 'paths' | 'webhooks'): { method: string; path: string; at: Located<Operation> }[] {
  return Object.entries(openApi[section]).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method] !== undefined).map((method) => ({
      method: method.toUpperCase(),
      path,
      at: below<Operation>(`/${section}`, path, method),
    })),
  );
}
