{{- define "plumbline.labels" -}}
app.kubernetes.io/name: plumbline
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- define "plumbline.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end }}
