{{- define "quittance.version" -}}
{{ .Values.version | default .Chart.AppVersion }}
{{- end }}

{{- define "quittance.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ include "quittance.version" . | quote }}
{{- end }}

{{- /* The arguments are the context and the image's name. */ -}}
{{- define "quittance.image" -}}
{{- $root := index . 0 -}}
{{- $name := index . 1 -}}
{{ $root.Values.image.registry }}/{{ $name }}:{{ include "quittance.version" $root }}
{{- with index $root.Values.image.digests $name }}@{{ . }}{{ end }}
{{- end }}

{{- /* As WEBHOOK_PRIVATE_TARGETS has them: docs/settings.md. */ -}}
{{- define "quittance.privateTargets" -}}
{{- range $place, $target := .Values.privateWebhookTargets.targets }}
{{- if $place }},{{ end }}
{{- .merchant }}@{{ .host }}={{ ternary (print "[" .address "]") .address (contains ":" .address) }}:{{ .port }}
{{- end }}
{{- end }}
