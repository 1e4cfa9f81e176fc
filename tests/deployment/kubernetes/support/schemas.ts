import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { repositoryRoot } from '@quittance/local-stack/stack/directory.ts';
import { describeErrors } from '@quittance/contracts/schema.ts';
import type { KubernetesObject } from './objects.ts';

type Schema = { [keyword: string]: unknown };

const folder = join(repositoryRoot, 'tests', 'deployment', 'schemas', 'kubernetes');
const METADATA = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';

// Kubernetes' schemas are older than ajv's strict mode: types are next to their branches, not in them.
const ajv = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false });
formats.default(ajv);
ajv.addFormat('int-or-string', true);
ajv.addKeyword('x-kubernetes-int-or-string');

const core = JSON.parse(readFileSync(join(folder, 'kubernetes.json'), 'utf8')) as {
  kinds: Record<string, string>;
  definitions: Record<string, Schema>;
};
core.definitions[INT_OR_STRING] = { type: ['integer', 'string'] };
ajv.addSchema({ $id: 'kubernetes', definitions: closed(core.definitions, true) });

const validators = new Map<string, ValidateFunction>();
for (const [kind, definition] of Object.entries(core.kinds)) {
  validators.set(kind, ajv.compile({ $ref: `kubernetes#/definitions/${definition}` }));
}
for (const file of readdirSync(folder).filter((name) => name.split('.').length > 3)) {
  const [, kind = '', group = '', version = ''] = /^([a-z]+)\.(.+)\.(v[a-z0-9]+)\.json$/.exec(file) ?? [];
  const schema = closed(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Schema) as Schema;
  Object.assign(schema['properties'] as object, { metadata: { $ref: `kubernetes#/definitions/${METADATA}` } });
  validators.set(`${group}/${version}/${kind}`, ajv.compile(schema));
}

/** What the Kubernetes API, or the operator of this kind, would refuse in an object, including unknown fields; empty for nothing. */
export function problemsOf(object: KubernetesObject): string {
  const { apiVersion, kind } = object;
  const validate = validators.get(`${apiVersion}/${kind}`) ?? validators.get(`${apiVersion}/${kind.toLowerCase()}`);
  if (validate === undefined) return `no schema is known for ${apiVersion} ${kind}`;
  return validate(object) ? '' : describeErrors(validate.errors);
}

/** The API drops unknown fields silently, or warns; here they are errors. @param isMap its keys are names, not keywords. */
function closed(node: unknown, isMap = false): unknown {
  if (Array.isArray(node)) return node.map((item) => closed(item));
  // Go's flag for ignoring case. Here the case matters: our files use the documented spelling.
  if (typeof node === 'string') return node.replace('(?i)', '');
  if (node === null || typeof node !== 'object') return node;
  const schema = node as Schema;
  const entries = Object.entries(schema).map(([key, value]) => [
    key,
    closed(value, !isMap && (key === 'properties' || key === 'definitions')),
  ]);
  const isOpen = !isMap && 'properties' in schema && !('additionalProperties' in schema);
  return { ...Object.fromEntries(entries), ...(isOpen && { additionalProperties: false }) } as Schema;
}
