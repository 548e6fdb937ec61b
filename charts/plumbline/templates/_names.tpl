{{- define "plumbline.labels" -}}
app.kubernetes.io/name: plumbline
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- /* A release of an older chart that is upgraded with its own values has no port. */}}
{{- define "plumbline.port" -}}
{{ .Values.port | default 9474 }}
{{- end }}

{{- define "plumbline.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}

{{- define "plumbline.controllerImage" -}}
{{- with .Values.controller.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}
