package kube

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"plumbline.dev/plumbline/internal/model"
)

// Which pods keep copies of the runtime's mounts: by directory and by propagation.
func TestRuntimeDirs(t *testing.T) {
	t.Parallel()
	to, both, none := corev1.MountPropagationHostToContainer, corev1.MountPropagationBidirectional, corev1.MountPropagationNone
	for _, c := range []struct {
		dir  string
		with *corev1.MountPropagationMode
		want []string
	}{
		{"/", nil, []string{model.RuntimeDir + "/"}},
		{"/", &none, []string{model.RuntimeDir + "/"}},
		{"/", &to, nil},
		{"/", &both, nil},
		{"/var/lib/", nil, []string{model.RuntimeDir + "/var/lib"}},
		{"/var/../run", nil, []string{model.RuntimeDir + "/run"}},
		{"/var/lib/containerd", nil, []string{model.RuntimeDir + "/var/lib/containerd"}},
		{"/var/lib/kubelet", &both, nil},
		{"/var/lib/docker/containers", nil, nil},
		{"/var/lib/dock", nil, nil},
		{"/run/containerd/containerd.sock", nil, nil},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: c.dir}}}},
			Containers: []corev1.Container{
				{Name: "other"},
				{Name: "main", VolumeMounts: []corev1.VolumeMount{{Name: "host", MountPath: "/host", MountPropagation: c.with}}},
			},
		}}
		spec, err := pod.Spec.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, dir := range copiesOf(spec) {
			got = append(got, model.RuntimeDir+dir)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %v: %q", c.dir, c.with, got)
		}
		mount := &pod.Spec.Containers[1].VolumeMounts[0]
		mount.SubPath = "etc/os-release"
		if spec, err = pod.Spec.Marshal(); err != nil || copiesOf(spec) != nil {
			t.Errorf("%s: only a part of it: %v, %v", c.dir, copiesOf(spec), err)
		}
		mount.SubPath = ""
		always := corev1.ContainerRestartPolicyAlways
		sidecar := corev1.PodSpec{Volumes: pod.Spec.Volumes, InitContainers: []corev1.Container{pod.Spec.Containers[1]}}
		if spec, err = sidecar.Marshal(); err != nil || copiesOf(spec) != nil {
			t.Errorf("%s: an init container ends: %v, %v", c.dir, copiesOf(spec), err)
		}
		sidecar.InitContainers[0].RestartPolicy = &always
		if spec, err = sidecar.Marshal(); err != nil || len(copiesOf(spec)) != len(c.want) {
			t.Errorf("%s: a sidecar: %v, %v", c.dir, copiesOf(spec), err)
		}
		pod.Spec.Containers = pod.Spec.Containers[:1]
		if spec, err = pod.Spec.Marshal(); err != nil || copiesOf(spec) != nil {
			t.Errorf("%s: no container mounts it: %v, %v", c.dir, copiesOf(spec), err)
		}
	}
}
