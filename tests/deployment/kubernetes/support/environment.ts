import { signingKeys, trustSettingsOf, type KeyHolder } from '@quittance/testkit/trust.ts';
import { find, ofKind, podOf, specOf, type Container, type KubernetesObject } from './objects.ts';

/** What a secret store may hold, by the property that an ExternalSecret requests. */
const stored: Record<string, string> = {
  database_password: 'p4ssw0rd',
  amqp_password: 'p4ssw0rd',
  internal_token: 'an-internal-token-of-at-least-32-characters',
  webhook_encryption_key: Buffer.alloc(32).toString('base64'),
  wallet_pool_encryption_key: Buffer.alloc(32).toString('base64'),
  // Empty, except while a value is being replaced.
  internal_token_previous: '',
  webhook_encryption_key_previous: '',
  wallet_pool_encryption_key_previous: '',
};

/** The key of a process, by the name of its Secret. */
const signingKeyOf = (name: string): string => signingKeys[(name === 'operator' ? 'ops' : name) as KeyHolder];

/** The manifests' placeholder for the output of `ops trust keys`. */
export const TRUST_KEYS_BLANK = '<ops trust keys>';

/** The environment of the process of a service, or of the operator's pod, without what its image sets. */
export const environmentOf = (objects: readonly KubernetesObject[], service: string): Record<string, string> =>
  environmentIn(objects, podOf(objects, service).containers[0]!);

/** @throws Error when a ConfigMap, a Secret or a key of one does not exist. */
export function environmentIn(objects: readonly KubernetesObject[], container: Container): Record<string, string> {
  const sources = (container.envFrom ?? []).map(({ configMapRef, secretRef }) =>
    configMapRef ? configuration(objects, configMapRef.name) : secret(objects, secretRef!.name),
  );
  const single = (container.env ?? []).flatMap(({ name, value, valueFrom }) => {
    if (valueFrom === undefined) return [[name, value ?? '']];
    const { secretKeyRef, configMapKeyRef } = valueFrom;
    if (secretKeyRef?.optional === true && !isThere(objects, secretKeyRef.name)) return [];
    const source = secretKeyRef ? secret(objects, secretKeyRef.name) : configuration(objects, configMapKeyRef!.name);
    const key = (secretKeyRef ?? configMapKeyRef)!.key!;
    if (source[key] === undefined && secretKeyRef?.optional === true) return [];
    if (source[key] === undefined) throw new Error(`${container.name} needs ${key}, which does not exist`);
    return [[name, source[key]]];
  });
  return Object.assign({}, ...sources, Object.fromEntries(single)) as Record<string, string>;
}

function configuration(objects: readonly KubernetesObject[], name: string): Record<string, string> {
  const data = find(objects, 'ConfigMap', name).data ?? {};
  return data['TRUSTED_KEYS'] === TRUST_KEYS_BLANK
    ? { ...data, TRUSTED_KEYS: trustSettingsOf('ops').TRUSTED_KEYS }
    : data;
}

const isThere = (objects: readonly KubernetesObject[], secretName: string): boolean =>
  ofKind(objects, 'Secret', 'ExternalSecret').some(({ metadata }) => metadata.name === secretName);

/** Fills in the placeholders in angle brackets of a Secret's template, as an operator would. */
const fillIn = (secretName: string, key: string, template: string): string =>
  template.replace(/<[^>]*>/g, (blank) => {
    if (blank === TRUST_KEYS_BLANK) return signingKeyOf(secretName);
    return stored[blank === '<password>' ? 'database_password' : key.toLowerCase()] ?? 'k3y';
  });

/** A Secret that exists, or that external-secrets creates. */
function secret(objects: readonly KubernetesObject[], name: string): Record<string, string> {
  const own = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name === name);
  const decoded = Object.entries(own?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]);
  const filled = Object.entries(own?.stringData ?? {}).map(([key, value]) => [key, fillIn(name, key, value)]);
  if (own !== undefined) return Object.fromEntries([...decoded, ...filled]) as Record<string, string>;
  return externalSecret(objects, name);
}

export type ExternalSecretSpec = {
  target: { name: string; template: { data: Record<string, string> } };
  data: { secretKey: string; remoteRef: { key: string; property: string } }[];
};

/** The Secret that external-secrets would create. @throws Error when a template uses a value that is not fetched. */
export function externalSecret(objects: readonly KubernetesObject[], name: string): Record<string, string> {
  const { target, data } = specOf<ExternalSecretSpec>(objects, 'ExternalSecret', name);
  const fetched = new Map(
    data.map(({ secretKey, remoteRef: { key, property } }) => {
      if (property === 'signing_key') return [secretKey, signingKeyOf(key.replace('quittance/', ''))];
      return [secretKey, stored[property] ?? `https://node.example/${property}`];
    }),
  );
  const filled = Object.entries(target.template.data).map(([key, template]) => [
    key,
    template.replace(/\{\{ \.(\w+)( \| urlquery)? \}\}/g, (_, wanted: string, escaped?: string) => {
      const value = fetched.get(wanted);
      if (value === undefined) throw new Error(`${name} does not fetch ${wanted}`);
      return escaped ? encodeURIComponent(value) : value;
    }),
  ]);
  return Object.fromEntries(filled) as Record<string, string>;
}
