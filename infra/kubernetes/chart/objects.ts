type Fields = Record<string, unknown>;

/** An object of the kustomizations. The generator changes copies of them, so their fields are open. */
export type KubernetesObject = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Fields; annotations?: Fields };
  spec?: unknown;
  data?: Record<string, string>;
};

type Reference = { name: string };

export type Container = {
  name: string;
  image: string;
  env?: unknown[];
  envFrom?: { configMapRef?: Reference; secretRef?: Reference }[];
  volumeMounts?: unknown[];
  resources?: Fields;
};

export type PodSpec = {
  containers: Container[];
  initContainers?: Container[];
  volumes?: unknown[];
  priorityClassName?: string;
};

export type Template = { metadata: { labels: Fields; annotations?: Fields }; spec: PodSpec };

/** The value with every string replaced by what the function makes of it; keys stay. */
export function mapStrings(value: unknown, change: (text: string, key: string) => string, key = ''): unknown {
  if (typeof value === 'string') return change(value, key);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, key));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, mapStrings(field, change, name)]));
}
