package load

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Annotations of Calico's plugin, if the datastore is KDD.
const (
	annotationSandbox = "cni.projectcalico.org/containerID"
	annotationIP      = "cni.projectcalico.org/podIP"
	annotationIPs     = "cni.projectcalico.org/podIPs"
)

// storedPod is the pod as the API server stores it; with annotations, if Calico stores
// its endpoint in annotations.
func storedPod(p pod, annotated bool) (put, error) {
	return stored("/registry/pods/"+p.namespace+"/"+p.name, "Pod", &corev1.Pod{ObjectMeta: p.meta(annotated), Spec: p.spec(), Status: p.status()})
}

func (p pod) meta(annotated bool) metav1.ObjectMeta {
	o := metav1.ObjectMeta{
		Name: p.name, GenerateName: p.name[:len(p.name)-5], Namespace: p.namespace, UID: types.UID(p.uid), Generation: 1,
		CreationTimestamp: metav1.NewTime(p.created),
		Labels:            map[string]string{"app": p.app.name, "app.kubernetes.io/name": p.app.name, "pod-template-hash": p.app.hash},
	}
	owner := metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: "ReplicaSet", Name: p.app.replicaSet(), UID: types.UID(p.app.uid), Controller: new(true), BlockOwnerDeletion: new(true),
	}
	if p.finished {
		job := o.GenerateName[:len(o.GenerateName)-1]
		o.Labels = map[string]string{"app": p.app.name, "batch.kubernetes.io/job-name": job, "job-name": job}
		owner.APIVersion, owner.Kind, owner.Name = "batch/v1", "Job", job
	}
	o.OwnerReferences = []metav1.OwnerReference{owner}
	o.ManagedFields = append(o.ManagedFields, managed("kube-controller-manager", "", controllerFields(p, o.Labels), p.created))
	if annotated {
		// After a pod finished, its annotations are empty and the sandbox's ID remains.
		ip := ""
		if p.endpoint {
			ip = p.address.String() + "/32"
		}
		o.Annotations = map[string]string{annotationSandbox: p.sandbox, annotationIP: ip, annotationIPs: ip}
		o.ManagedFields = append(o.ManagedFields, managed("calico", "status", calicoFields, p.created.Add(time.Second)))
	}
	o.ManagedFields = append(o.ManagedFields, managed("kubelet", "status", kubeletFields(p), p.created.Add(2*time.Second)))
	return o
}

func (p pod) spec() corev1.PodSpec {
	s := corev1.PodSpec{
		Volumes: []corev1.Volume{
			{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: p.volume, VolumeSource: corev1.VolumeSource{Projected: tokenVolume}},
		},
		Containers:                    []corev1.Container{p.containerSpec()},
		RestartPolicy:                 corev1.RestartPolicyAlways,
		TerminationGracePeriodSeconds: new(int64(30)),
		DNSPolicy:                     corev1.DNSClusterFirst,
		ServiceAccountName:            "default",
		DeprecatedServiceAccount:      "default",
		NodeName:                      p.host.name,
		SecurityContext:               &corev1.PodSecurityContext{},
		SchedulerName:                 corev1.DefaultSchedulerName,
		Priority:                      new(int32(0)),
		EnableServiceLinks:            new(true),
		PreemptionPolicy:              new(corev1.PreemptLowerPriority),
	}
	if p.finished {
		s.RestartPolicy = corev1.RestartPolicyNever
	}
	for _, taint := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{
			Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
		})
	}
	return s
}

// tokenVolume is the projected volume that every pod gets.
var tokenVolume = &corev1.ProjectedVolumeSource{
	DefaultMode: new(int32(0o644)),
	Sources: []corev1.VolumeProjection{
		{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{ExpirationSeconds: new(int64(3607)), Path: "token"}},
		{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"},
			Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
		}},
		{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
			{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
		}}},
	},
}

const tokenPath = "/var/run/secrets/kubernetes.io/serviceaccount"

// podResources are the requests and limits of every container.
var podResources = corev1.ResourceRequirements{
	Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity("512Mi")},
	Requests: corev1.ResourceList{corev1.ResourceCPU: quantity("250m"), corev1.ResourceMemory: quantity("256Mi")},
}

func (p pod) containerSpec() corev1.Container {
	return corev1.Container{
		Name: p.app.name, Image: p.app.image, Resources: podResources,
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "cache", MountPath: "/var/cache/" + p.app.name},
			{Name: p.volume, ReadOnly: true, MountPath: tokenPath},
		},
		TerminationMessagePath: corev1.TerminationMessagePathDefault, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		ImagePullPolicy: corev1.PullIfNotPresent,
	}
}
