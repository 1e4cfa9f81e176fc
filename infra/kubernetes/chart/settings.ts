import { edgeConfiguration } from '../generated-files.ts';
import { NOTICES, OTLP, PRIVATE_AUTHORITY, PRIVATE_TARGETS } from './conditions.ts';
import { hole, templateText } from './holes.ts';

/** A network of the documentation block, which stands for the trusted proxies until their lines become a loop. */
const PROXY = '192.0.2.1';

/** What the chart's values say instead of production's settings. */
const fromValues: Record<string, string> = {
  TRUSTED_KEYS: '.Values.trustedKeys',
  PUBLIC_BASE_URL: '(print "https://" .Values.host)',
  NOTICES_FROM: '.Values.notices.from',
  CONSOLE_URL: '.Values.notices.consoleUrl',
};

/** The name of the partial template with the data of a ConfigMap. */
const partialOf = (configMap: string): string => `quittance.config.${configMap}`;

/** Changes whenever one of these ConfigMaps does, so that Helm replaces the pods that use them. */
export const checksumOf = (configMaps: readonly string[]): string => {
  const texts = configMaps.map((name) => `(include "${partialOf(name)}" .)`);
  return hole(`list ${texts.join(' ')} | join "\\n" | sha256sum | quote`);
};

/** The partial template with a ConfigMap's data, and the line that includes it. */
export function settingsTemplate(name: string, data: Record<string, string>): { partial: string; include: string } {
  const body = name.endsWith('-settings') ? variables(name.replace('-settings', ''), data) : fileTemplates[name]?.();
  if (body === undefined) throw new Error(`the chart does not know the ConfigMap ${name}`);
  return {
    partial: `{{- define "${partialOf(name)}" -}}\n${body}\n{{- end }}`,
    include: `{{- include "${partialOf(name)}" . | nindent INDENT }}`,
  };
}

/** The shipped settings of one process, under those of the values. */
function variables(process: string, data: Record<string, string>): string {
  const shipped = Object.entries(data).map(
    ([name, value]) => `  ${JSON.stringify(name)} ${fromValues[name] ?? JSON.stringify(value)}`,
  );
  const own = `(deepCopy (index .Values.settings "${process}"))`;
  const more = (onlyIf[process] ?? []).map(
    ([condition, name, value]) => `{{- if ${condition} }}{{ $_ := set $shipped "${name}" ${value} }}{{ end }}\n`,
  );
  return `{{- $shipped := dict\n${shipped.join('\n')}\n}}\n${more.join('')}{{- merge ${own} $shipped | toYaml }}`;
}

/** Settings of a process that components of the kustomization add: when, the name, and the value. */
const onlyIf: Record<string, [condition: string, name: string, value: string][]> = {
  common: [[OTLP, 'OTEL_EXPORTER_OTLP_ENDPOINT', '.Values.otlp.endpoint']],
  'webhook-dispatcher': [
    [PRIVATE_TARGETS, 'WEBHOOK_PRIVATE_TARGETS', '(include "quittance.privateTargets" .)'],
    [PRIVATE_AUTHORITY, 'WEBHOOK_PRIVATE_TARGETS_CA', '"/etc/quittance/private-targets/ca.pem"'],
    [NOTICES, 'WEBHOOK_NOTIFIER', '(print "notices.internal=" .Values.notices.address ":8443")'],
    // Has the authorities of both.
    [NOTICES, 'WEBHOOK_PRIVATE_TARGETS_CA', '"/etc/quittance/notices/ca.pem"'],
  ],
  console: [[NOTICES, 'NOTIFIER_URL', '"http://notifier:8080"']],
};

/** ConfigMaps with a file. */
const fileTemplates: Record<string, () => string> = {
  networks: () =>
    [
      '{{- $networks := list }}',
      '{{- $ids := list }}',
      '{{- $endpoints := .Values.networks }}',
      '{{- range .Files.Get "files/networks.json" | fromJsonArray }}',
      '{{- $ids = append $ids .id }}',
      '{{- $networks = append $networks (set . "rpc_urls" (index $endpoints .id | default list)) }}',
      '{{- end }}',
      '{{- range $id, $_ := $endpoints }}',
      '{{- if not (has $id $ids) }}{{ fail (print "networks names " $id ", which Quittance does not know") }}{{ end }}',
      '{{- end }}',
      'networks.json: {{ toPrettyJson $networks | toJson }}',
    ].join('\n'),
  edge: () =>
    templateText({ 'nginx.conf': edgeConfiguration([PROXY]) }).replaceAll(
      new RegExp(`^(.*)${PROXY.replaceAll('.', '\\.')}(.*)$`, 'gm'),
      '{{- range .Values.edge.trustedProxies }}\n$1{{ . }}$2\n{{- end }}',
    ),
  dashboards: () => '{{- (.Files.Glob "files/dashboards/*.json").AsConfig }}',
  'private-targets-ca': () => '{{- dict "ca.pem" .Values.privateWebhookTargets.ca | toYaml }}',
  'notices-ca': () => '{{- dict "ca.pem" (print .Values.notices.ca .Values.privateWebhookTargets.ca) | toYaml }}',
  'postgres-schemas': () => 'schemas.sql: {{ .Files.Get "files/schemas.sql" | toJson }}',
};
