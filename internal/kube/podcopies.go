package kube

import (
	"path"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// runtimeDirs are where container runtimes and kubelets mount what belongs to containers and pods.
var runtimeDirs = []string{
	"/var/lib/docker", "/var/lib/containerd", "/run/containerd", "/var/run/containerd", "/var/lib/containers", "/run/containers",
	"/var/lib/kubelet", "/var/lib/rancher/k3s", "/var/snap/microk8s/common",
}

// copiesOf returns the directories of the node that hold a runtime's directories and that a
// container of the pod mounts without propagation, sorted.
func copiesOf(spec []byte) []string {
	held := map[string]string{} // by the volume's name
	_ = fields(spec, func(num protowire.Number, v []byte, _ uint64) {
		if int(num) == podSpecFieldVolumes {
			if name, dir := hostPath(v); holdsRuntime(dir) {
				held[name] = dir
			}
		}
	})
	if len(held) == 0 {
		return nil
	}
	var out []string
	_ = fields(spec, func(num protowire.Number, container []byte, _ uint64) {
		sidecar := int(num) == podSpecFieldInitContainers && first(container, containerFieldRestart) == "Always"
		if int(num) != podSpecFieldContainers && !sidecar {
			return
		}
		_ = fields(container, func(num protowire.Number, v []byte, _ uint64) {
			if dir := copied(v, held); int(num) == containerFieldMounts && dir != "" && !slices.Contains(out, dir) {
				out = append(out, dir)
			}
		})
	})
	slices.Sort(out)
	return out
}

// copied is the directory that a volume mount copies, if unmounts do not reach it. Of a part of the
// volume that only the container's environment names, nothing is said.
func copied(mount []byte, held map[string]string) string {
	dir := held[first(mount, mountFieldName)]
	if p := first(mount, mountFieldPropagation); dir == "" || p != "" && p != "None" || first(mount, mountFieldSubPathExpr) != "" {
		return ""
	}
	if dir = path.Join(dir, first(mount, mountFieldSubPath)); !holdsRuntime(dir) {
		return ""
	}
	return dir
}

// hostPath returns a volume's name and directory, which is empty for volumes of other kinds.
func hostPath(volume []byte) (name, dir string) {
	_ = fields(volume, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case volumeFieldName:
			name = string(v)
		case volumeFieldVolumeSource:
			_ = fields(v, func(num protowire.Number, s []byte, _ uint64) {
				if int(num) == volumeSourceFieldHostPath {
					dir = path.Clean("/" + first(s, hostPathFieldPath))
				}
			})
		}
	})
	return name, dir
}

func holdsRuntime(dir string) bool {
	return dir != "" && slices.ContainsFunc(runtimeDirs, func(r string) bool { return dir == "/" || r == dir || strings.HasPrefix(r, dir+"/") })
}
