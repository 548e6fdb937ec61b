package host

import (
	"bytes"
	"regexp"
	"strings"
)

// The kubelet and the runtimes mount below directories that are named after a pod, a
// container, a sandbox or a layer. The kubelet's own directory may be anywhere, and a pod
// that mounts the host's file system has all of this below another path: so only the end of
// a path counts.
const uid = `([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})`

const cid = `([0-9a-f]{64})`

var (
	podDir = regexp.MustCompile(`/pods/` + uid + `/(?:volumes|volume-subpaths|volumeDevices)/`)
	// A layer of docker has 64 characters, or 25 of another alphabet.
	stateDirs = []*regexp.Regexp{
		podDir,
		regexp.MustCompile(`/io\.containerd\.runtime\.v[12]\.(?:task|linux)/[^/]+/` + cid + `/rootfs$`),
		regexp.MustCompile(`/io\.containerd\.grpc\.v1\.cri/sandboxes/` + cid + `/shm$`),
		regexp.MustCompile(`/docker/containers/` + cid + `/(?:mounts/)?shm$`),
		regexp.MustCompile(`/overlay-containers/` + cid + `/userdata/shm$`),
		regexp.MustCompile(`/(?:overlay2?|devicemapper/mnt|aufs/mnt)/([0-9a-z]{25}|[0-9a-f]{64})(?:/merged|/rootfs)?$`),
	}
)

// podOf is the pod whose volume is mounted at a path of the kubelet; empty for another
// path.
func podOf(target string) string {
	if m := podDir.FindStringSubmatch(target); m != nil {
		return m[1]
	}
	return ""
}

// staged reports whether a path is the kubelet's own, before a volume is mounted for pods.
func staged(target string) bool { return strings.Contains(target, "/kubelet/plugins/") }

// stateOf is what a mount of the kubelet or a runtime belongs to, and the part of its path
// that is the same in every mount namespace.
func stateOf(target string) (id, tail string) {
	for _, r := range stateDirs {
		if at := r.FindStringSubmatchIndex(target); at != nil {
			return target[at[2]:at[3]], target[at[0]:]
		}
	}
	return "", ""
}

// mayBeState is a cheap filter of paths: most belong to neither.
func mayBeState(target []byte) bool {
	for _, part := range [][]byte{[]byte("/pods/"), []byte("/rootfs"), []byte("/shm"), []byte("/merged"), []byte("/mnt/")} {
		if bytes.Contains(target, part) {
			return true
		}
	}
	return false
}
