package kube

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"plumbline.dev/plumbline/internal/model"
)

// realVolumes has one volume of every kind that we name, and of some that we do not.
func realVolumes() []corev1.Volume {
	sources := []corev1.VolumeSource{
		{EmptyDir: &corev1.EmptyDirVolumeSource{}},
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data", ReadOnly: true}},
		{NFS: &corev1.NFSVolumeSource{Server: "filer", Path: "/export/a"}},
		{Glusterfs: &corev1.GlusterfsVolumeSource{EndpointsName: "gluster", Path: "vol"}},
		{CephFS: &corev1.CephFSVolumeSource{Monitors: []string{"10.0.0.1:6789", "10.0.0.2:6789"}, Path: "/x", User: "u", SecretFile: "/secret"}},
		{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"10.0.0.1:6789"}, RBDImage: "disk", RBDPool: "rbd", Keyring: "/k"}},
		{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "10.0.0.3:3260", IQN: "iqn.2001-04.com.example:disk", Lun: 1}},
		{FlexVolume: &corev1.FlexVolumeSource{Driver: "example/flex", Options: map[string]string{"password": "s"}}},
		{FC: &corev1.FCVolumeSource{TargetWWNs: []string{"50060e801049cfd1"}}},
		{FC: &corev1.FCVolumeSource{WWIDs: []string{"3600508b400105e210000900000490000"}}},
		{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "s", ShareName: "share"}},
		{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"token": "s"}}},
		{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}},
		{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/shared/"}},
		{HostPath: &corev1.HostPathVolumeSource{Path: "/var/run/docker.sock"}},
		{Secret: &corev1.SecretVolumeSource{SecretName: "s"}},
		{ConfigMap: &corev1.ConfigMapVolumeSource{}},
		{Projected: &corev1.ProjectedVolumeSource{}},
		{Image: &corev1.ImageVolumeSource{Reference: "r"}},
		{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "p"}},
		{NFS: &corev1.NFSVolumeSource{Server: "filer", Path: "/export/a"}}, // again: said once
	}
	var out []corev1.Volume
	for i, s := range sources {
		out = append(out, corev1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: s})
	}
	return out
}

var wantVolumes = []string{
	"pvc:shop/data", "nfs:filer:/export/a", "glusterfs:gluster/vol", "cephfs:10.0.0.1:6789:/x", "rbd:rbd/disk",
	"iscsi:10.0.0.3:3260:iqn.2001-04.com.example:disk", "flex:example/flex", "fc:50060e801049cfd1", "fc:3600508b400105e210000900000490000",
	"azureFile:share", "csi:csi.example.com", "pvc:shop/db-0-v12", "hostPath:/mnt/shared",
}

func TestMayHang(t *testing.T) {
	t.Parallel()
	for dir, want := range map[string]bool{
		"/": false, "": false, "/etc": false, "/etc/ssl": false, "/etcd": true, "/lib/modules": false, "/run/containerd": false, "/var/run/x": false,
		"/var/log": false, "/var/log/pods": false, "/proc": false, "/sys/fs/bpf": false, "/dev/shm": false, "/usr/local": false, "/opt/cni/bin": false,
		"/opt/data": true, "/var/lib/kubelet": true, "/mnt": true, "/mnt/../etc/x": false, "/data//": true,
	} {
		if mayHang(dir) != want {
			t.Errorf("%q: %v", dir, !want)
		}
	}
}

// Nobody makes us keep more than a little of one pod.
func TestListsOfAPodAreBounded(t *testing.T) {
	t.Parallel()
	k := podPicker{intern: model.Interner{}}
	var list []string
	for i := range 100 {
		list = k.some(list, fmt.Sprint("nfs:", i), maxVolumes)
	}
	if len(list) != maxVolumes || list[0] != "nfs:0" {
		t.Errorf("%q", list)
	}
	if got := k.some(nil, "", 1); got != nil {
		t.Errorf("nothing is %#v", got)
	}
	if got := k.some([]string{"a"}, "a", 8); !reflect.DeepEqual(got, []string{"a"}) {
		t.Errorf("twice: %q", got)
	}
}
