{{/* Names are fixed: the chart is installed once per Kubernetes cluster. */}}

{{- define "pgstorage.selectorLabels" -}}
app.kubernetes.io/name: pgstorage
app.kubernetes.io/component: manager
{{- end }}

{{- define "pgstorage.agentSelectorLabels" -}}
app.kubernetes.io/name: pgstorage
app.kubernetes.io/component: agent
{{- end }}

{{- define "pgstorage.labels" -}}
app.kubernetes.io/name: pgstorage
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "pgstorage.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else if .tag -}}
{{ .repository }}:{{ .tag }}
{{- else -}}
{{ .repository }}:{{ $.Chart.AppVersion }}{{ with index $.Chart.Annotations "pgstorage.dev/image-digest" }}@{{ . }}{{ end }}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Not empty where the platform gives each namespace its users: OpenShift rejects
pods that name another one. */ -}}
{{- define "pgstorage.openshift" -}}
{{- if or (eq .Values.platform "OpenShift") (and (eq .Values.platform "") (.Capabilities.APIVersions.Has "security.openshift.io/v1")) -}}
true
{{- end -}}
{{- end }}

{{- define "pgstorage.podSecurityContext" -}}
runAsNonRoot: true
{{- if not (include "pgstorage.openshift" .) }}
runAsUser: 65532
runAsGroup: 65532
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "pgstorage.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* Labels by which Prometheus selects PodMonitors: by default those of ServiceMonitors. */}}
{{- define "pgstorage.podMonitorLabels" -}}
{{- with .Values.metrics -}}
{{- merge (deepCopy (.podMonitor.labels | default .serviceMonitor.labels)) .labels | toYaml -}}
{{- end -}}
{{- end }}

{{- /* Seconds that an agent gets to end a change: ten times agent.commandTimeout, as SlowFactor
of internal/node/host, and 30. At least what the default timeout needs. */ -}}
{{- define "pgstorage.agentGracePeriod" -}}
{{- $seconds := mustToDate "2006-01-02T15:04:05Z07:00" "1970-01-01T00:00:00.999Z" | mustDateModify .Values.agent.commandTimeout | unixEpoch | int64 -}}
{{- add 30 (max 300 (mul 10 $seconds)) -}}
{{- end }}
