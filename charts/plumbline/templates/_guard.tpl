{{- define "plumbline.guardContainer" -}}
# The guard daemon of the node: it adds the guard to the CNI configuration and removes it, as the ConfigMap plumbline-guard requires.
# It listens on no port. At its end it asks Kubernetes whether its DaemonSet is deleted, and if so removes the guard from the node's
# CNI configuration; it sends no other request. If it exits, pods start and end as before.
- name: guard
  image: {{ include "plumbline.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
  - guard
  - --node=$(NODE_NAME)
  - --log-format={{ .Values.logFormat | default "text" }}
  - --root=/proc/1/root # the runtime of each node reports its CNI directories
  - --modes=/etc/plumbline/guard
  - --program=/plumbline-cni
  - --event-log=/var/lib/plumbline/events
  - --daemonset=plumbline-agent
  {{- with .Values.runtimeSocket }}
  - --socket={{ . }}
  {{- end }}
  env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  resources:
    {{- toYaml .Values.guard.resources | nindent 4 }}
  securityContext:
    {{- include "plumbline.guardSecurityContext" . | nindent 4 }}
  volumeMounts:
  - {name: event-log, mountPath: /var/lib/plumbline}
  - {name: modes, mountPath: /etc/plumbline/guard, readOnly: true}
{{- end }}
