{{- define "plumbline.securityContext" -}}
{{- include "plumbline.root" . }}
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
{{- include "plumbline.confinement" . }}
{{- end }}

{{- define "plumbline.guardSecurityContext" -}}
{{- include "plumbline.root" . }}
  # The node's files through /proc/1/root, and /proc/PID/ns and environ: who lives in a namespace, which CNI calls are running.
  - SYS_PTRACE
  # Write where only another may: installers give /etc/cni/net.d and /opt/cni/bin to users of their own, such as kube.
  - DAC_OVERRIDE
  # A configuration that is written anew keeps its owner,
  - CHOWN
  # and its mode, although it is not root's.
  - FOWNER
  # Run the guard's program on the node's own files, to make up for a DEL. The next two are for Calico's plugin in there:
  - SYS_CHROOT
  # setns into the network namespace of the sandbox,
  - SYS_ADMIN
  # and delete its device.
  - NET_ADMIN
{{- include "plumbline.confinement" . }}
{{- end }}

{{- define "plumbline.root" -}}
privileged: false
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsUser: 0 # the runtime's socket is root's
runAsGroup: 0
capabilities:
  drop: [ALL]
  add:
{{- end }}

{{- define "plumbline.confinement" }}
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
