import { isMap, isScalar, parseDocument, type Pair } from 'yaml';

/**
 * The chart's README: how it is installed, and each value with its default and the comment above it in values.yaml.
 * @param values the text of values.yaml.
 */
export function chartReadme(values: string): string {
  const { contents } = parseDocument(values);
  if (!isMap(contents)) throw new Error('values.yaml has no values');
  const rows = contents.items.flatMap((pair) => rowsOf(pair as Pair, ''));
  return `${INTRODUCTION}\n## Values

${rows.join('\n')}\n`;
}

const INTRODUCTION = `<!-- Written by npm run manifests, from values.yaml. -->

# Quittance

Self-hosted, non-custodial USDT payments. [Kubernetes](../../../docs/kubernetes.md#with-helm) says what a cluster must have, how to install this chart, and how to upgrade it.

\`\`\`sh
helm upgrade --install quittance k8s/charts/quittance --namespace quittance --values my-values.yaml --timeout 20m
\`\`\`
`;

/** One item for a value, or one for each of its fields. Maps of the user's own, such as annotations, stay together. */
function rowsOf({ key, value }: Pair, parent: string, comment = ''): string[] {
  const name = parent + (isScalar(key) ? String(key.value) : '');
  const above = isScalar(key) ? (key.commentBefore ?? '') : '';
  const first = isMap(value) ? (value.commentBefore ?? '') : '';
  // Above the first value is also what the file says about itself.
  const own = above.split(/\n\s*\n/).at(-1) ?? '';
  const meaning = [comment, own, first].filter(Boolean).join(' ').replaceAll(/\s+/g, ' ').trim();
  const isSection = isMap(value) && !value.flow && parent.split('.').length < 3 && !/annotations|networks/.test(name);
  if (!isSection) return [`- \`${name}\`, default \`${JSON.stringify(value)}\`${meaning === '' ? '' : `: ${meaning}`}`];
  // The comment of a section stands at its first value.
  return value.items.flatMap((pair, place) => rowsOf(pair, `${name}.`, place === 0 ? meaning : ''));
}
