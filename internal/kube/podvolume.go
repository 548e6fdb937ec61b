package kube

import (
	"path"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"plumbline.dev/plumbline/internal/model"
)

// volume returns the source of a volume that can hang, as KIND:SOURCE; empty for the
// others, which are in memory or on the node's own disk.
//
//	pvc:NAMESPACE/CLAIM  nfs:SERVER:PATH     glusterfs:ENDPOINTS/PATH  cephfs:MONITOR:PATH
//	rbd:POOL/IMAGE       iscsi:PORTAL:IQN    csi:DRIVER                flex:DRIVER
//	fc:WWN               azureFile:SHARE     hostPath:PATH
func volume(b []byte, p *model.Pod) string {
	var name, out string
	_ = fields(b, func(num protowire.Number, v []byte, _ uint64) {
		switch int(num) {
		case volumeFieldName:
			name = string(v)
		case volumeFieldVolumeSource:
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
	case volumeSourceFieldHostPath:
		if at := first(b, hostPathFieldPath); mayHang(at) {
			return "hostPath:" + path.Clean(at)
		}
	case volumeSourceFieldNFS:
		return "nfs:" + first(b, nfsFieldServer) + ":" + first(b, nfsFieldPath)
	case volumeSourceFieldISCSI:
		return "iscsi:" + first(b, iscsiFieldTargetPortal) + ":" + first(b, iscsiFieldIQN)
	case volumeSourceFieldGlusterfs:
		return "glusterfs:" + first(b, glusterfsFieldEndpoints) + "/" + first(b, glusterfsFieldPath)
	case volumeSourceFieldPVC:
		return "pvc:" + p.Namespace + "/" + first(b, pvcFieldClaimName)
	case volumeSourceFieldRBD:
		return "rbd:" + first(b, rbdFieldPool) + "/" + first(b, rbdFieldImage)
	case volumeSourceFieldFlex:
		return "flex:" + first(b, flexFieldDriver)
	case volumeSourceFieldCephFS:
		return "cephfs:" + first(b, cephFSFieldMonitors) + ":" + first(b, cephFSFieldPath)
	case volumeSourceFieldFC:
		wwn := first(b, fcFieldTargetWWNs)
		if wwn == "" {
			wwn = first(b, fcFieldWWIDs)
		}
		return "fc:" + wwn
	case volumeSourceFieldAzureFile:
		return "azureFile:" + first(b, azureFileFieldShareName)
	case volumeSourceFieldCSI:
		return "csi:" + first(b, csiFieldDriver)
	case volumeSourceFieldEphemeral:
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
