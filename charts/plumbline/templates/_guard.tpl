{{- define "plumbline.guardContainer" -}}
# The keeper of the node's guard: it puts it into the CNI configuration and takes it out, as the ConfigMap plumbline-guard says.
# It listens nowhere, and asks Kubernetes nothing. If it dies, pods come and go as before.
- name: guard
  image: {{ include "plumbline.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
  - guard
  - --node=$(NODE_NAME)
  - --root=/proc/1/root # CNI's directories are where the runtime says, on each node
  - --modes=/etc/plumbline/guard
  - --program=/plumbline-cni
  - --record=/var/lib/plumbline/flight
  env:
  - name: NODE_NAME
    valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
  resources:
    {{- toYaml .Values.guard.resources | nindent 4 }}
  securityContext:
    {{- include "plumbline.guardSecurityContext" . | nindent 4 }}
  volumeMounts:
  - {name: record, mountPath: /var/lib/plumbline}
  - {name: modes, mountPath: /etc/plumbline/guard, readOnly: true}
{{- end }}
