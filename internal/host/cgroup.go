package host

import (
	"bytes"
	"regexp"
	"strings"
)

// An owner is the pod and container of a process, by its cgroup.
type owner struct{ container, pod string }

// The forms of a pod's and a container's cgroup:
//
//	cgroupfs          /kubepods/burstable/podUID/CID
//	systemd           /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podU_I_D.slice/cri-containerd-CID.scope
//	systemd, by name  /system.slice/containerd.service/kubepods-besteffort-podU_I_D.slice:cri-containerd:CID
//
// with docker-CID.scope and crio-CID.scope for the other runtimes; the UID of a static
// pod is a hash without dashes.
var (
	podGroup       = regexp.MustCompile(`(?:^|[-/])pod([0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?(?:[:/]|$)`)
	containerGroup = regexp.MustCompile(`(?:^|[/:]|[/:](?:cri-containerd|containerd|docker|crio|cri-o|libpod)-)([0-9a-f]{64})(?:\.scope)?(?:/|$)`)
)

// parseCgroup finds the owner of a process in its cgroup file, of version 1, 2 or both.
func parseCgroup(b []byte) owner {
	var best owner
	for line := range bytes.Lines(b) {
		parts := strings.SplitN(strings.TrimRight(string(line), "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		path := strings.TrimSuffix(parts[2], " (deleted)")
		var o owner
		rest := path
		if at := podGroup.FindStringSubmatchIndex(path); at != nil {
			o.pod = strings.ReplaceAll(path[at[2]:at[3]], "_", "-")
			rest = strings.TrimPrefix(path[at[3]:], ".slice")
		}
		if m := containerGroup.FindStringSubmatch(rest); m != nil {
			o.container = m[1]
		}
		if o.pod != "" && o.container != "" {
			return o
		}
		if best.pod == "" && (o.pod != "" || best.container == "") {
			best = o
		}
	}
	return best
}
