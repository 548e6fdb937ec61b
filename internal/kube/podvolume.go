package kube

import (
	"path"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/model"
)

// volume returns the source of a volume that can hang, as KIND:SOURCE; empty for the
// others, which are in memory or on the node's own disk. Field numbers are those of
// k8s.io/api.
//
//	pvc:NAMESPACE/CLAIM  nfs:SERVER:PATH     glusterfs:ENDPOINTS/PATH  cephfs:MONITOR:PATH
//	rbd:POOL/IMAGE       iscsi:PORTAL:IQN    csi:DRIVER                flex:DRIVER
//	fc:WWN               azureFile:SHARE     hostPath:PATH
func volume(b []byte, p *model.Pod) string {
	var name, out string
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case 1:
			name = string(v)
		case 2:
			_ = fields(v, func(num protowire.Number, s []byte, _ uint64) {
				if named := source(int(num), s, p); named != "" {
					out = named
				}
			})
		}
	})
	if out == ephemeral { // its claim is named after the pod and the volume
		return "pvc:" + p.Namespace + "/" + p.Name + "-" + name
	}
	return out
}

// ephemeral stands for a claim that Kubernetes creates for this pod.
const ephemeral = "ephemeral"

func source(kind int, b []byte, p *model.Pod) string {
	switch kind {
	case 1:
		if at := first(b, 1); mayHang(at) {
			return "hostPath:" + path.Clean(at)
		}
	case 7:
		return "nfs:" + first(b, 1) + ":" + first(b, 2)
	case 8:
		return "iscsi:" + first(b, 1) + ":" + first(b, 2)
	case 9:
		return "glusterfs:" + first(b, 1) + "/" + first(b, 2)
	case 10:
		return "pvc:" + p.Namespace + "/" + first(b, 1)
	case 11:
		return "rbd:" + first(b, 4) + "/" + first(b, 2)
	case 12:
		return "flex:" + first(b, 1)
	case 14:
		return "cephfs:" + first(b, 1) + ":" + first(b, 2)
	case 17:
		wwn := first(b, 1)
		if wwn == "" {
			wwn = first(b, 5)
		}
		return "fc:" + wwn
	case 18:
		return "azureFile:" + first(b, 2)
	case 28:
		return "csi:" + first(b, 1)
	case 29:
		return ephemeral
	}
	return ""
}

// maxSource bounds one name: the API server accepts longer ones, a file system does not.
const maxSource = 512

// first is the first value of a text field.
func first(b []byte, want protowire.Number) string {
	var out string
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		if num == want && out == "" {
			out = string(v[:min(len(v), maxSource)])
		}
	})
	return out
}

// mayHang reports whether something else may be mounted on a directory of the node.
// Directories of every system are not counted: half of all pods use them.
func mayHang(dir string) bool {
	dir = path.Clean("/" + dir)
	if dir == "/" || strings.HasPrefix(dir, "/var/log") || strings.HasPrefix(dir, "/opt/cni") {
		return false
	}
	for _, own := range []string{"/etc", "/lib", "/run", "/var/run", "/proc", "/sys", "/dev", "/usr"} {
		if dir == own || strings.HasPrefix(dir, own+"/") {
			return false
		}
	}
	return true
}
