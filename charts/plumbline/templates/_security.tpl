{{- define "plumbline.securityContext" -}}
{{- include "plumbline.root" . }}
  # setns into the network namespaces of pods.
  - SYS_ADMIN
  # /proc/PID/ns and /proc/1/root of processes with more capabilities than the agent.
  - SYS_PTRACE
  # /proc/PID/fd and environ of processes of other users, and files that only they may read: which process serves or holds a mount.
  - DAC_READ_SEARCH
  # Receive changes inside the pods' namespaces on one socket, without holding any of them (NETLINK_LISTEN_ALL_NSID).
  - NET_BROADCAST
  {{- if or .Values.repair .Values.readFirewall }}
  # Node steps of a plan: interfaces, routes, neighbours and sysctls of the node. Without the value repair the agent only reads, and
  # needs it for the chains of nf_tables, which the kernel shows to nobody else.
  - NET_ADMIN
  {{- end }}
{{- include "plumbline.confinement" . }}
{{- end }}

{{- define "plumbline.guardSecurityContext" -}}
{{- include "plumbline.root" . }}
  # The node's files through /proc/1/root, and /proc/PID/ns and environ: which processes are in a namespace, which CNI calls are running.
  - SYS_PTRACE
  # Write directories of other users: some installers make a user such as kube the owner of /etc/cni/net.d and /opt/cni/bin.
  - DAC_OVERRIDE
  # Keep the owner of a rewritten CNI configuration,
  - CHOWN
  # and its mode, although root does not own it.
  - FOWNER
  # Run the guard's program in the node's root, for queued DELs. Calico's plugin, which it calls, needs the next two:
  - SYS_CHROOT
  # setns into the network namespace of the sandbox,
  - SYS_ADMIN
  # and delete its interface.
  - NET_ADMIN
{{- include "plumbline.confinement" . }}
{{- end }}

{{- define "plumbline.root" -}}
privileged: false
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsUser: 0 # root owns the runtime's socket
runAsGroup: 0
capabilities:
  drop: [ALL]
  add:
{{- end }}

{{- define "plumbline.confinement" }}
seccompProfile:
  type: RuntimeDefault
{{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}
# The runtime's default AppArmor profile forbids reading processes outside the container.
appArmorProfile:
  type: Unconfined
{{- end }}
{{- with .Values.seLinuxOptions }}
# Likewise for SELinux; ignored where SELinux is off.
seLinuxOptions:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
