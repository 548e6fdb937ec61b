{{- define "plumbline.securityContext" -}}
privileged: false
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsUser: 0 # the runtime's socket is root's
runAsGroup: 0
capabilities:
  drop: [ALL]
  add:
  # setns into the network namespaces of pods.
  - SYS_ADMIN
  # /proc/PID/ns and /proc/1/root of processes with more rights than the agent's.
  - SYS_PTRACE
  # /proc/PID/fd and environ of processes of other users, and files that only they may read: who serves or holds a mount.
  - DAC_READ_SEARCH
  # Hear of changes inside the pods' namespaces on one socket, without holding any of them (NETLINK_LISTEN_ALL_NSID).
  - NET_BROADCAST
  {{- if .Values.repair }}
  # Node steps of a plan; without the value repair the agent only reads. Devices, routes, neighbours and settings of the node.
  - NET_ADMIN
  {{- end }}
seccompProfile:
  type: RuntimeDefault
{{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}
# The runtime's own AppArmor profile forbids looking at processes outside the container.
appArmorProfile:
  type: Unconfined
{{- end }}
{{- with .Values.seLinuxOptions }}
# Likewise for SELinux; ignored where that is off.
seLinuxOptions:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
