package load

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (p pod) status() corev1.PodStatus {
	up := p.created.Add(2 * time.Second)
	phase, ready, why := corev1.PodRunning, corev1.ConditionTrue, ""
	if p.finished {
		phase, ready, why = corev1.PodSucceeded, corev1.ConditionFalse, "PodCompleted"
	}
	return corev1.PodStatus{
		ObservedGeneration: 1,
		Phase:              phase,
		Conditions: []corev1.PodCondition{
			podCondition(corev1.PodReadyToStartContainers, ready, "", up),
			podCondition(corev1.PodInitialized, corev1.ConditionTrue, why, p.created),
			podCondition(corev1.PodReady, ready, why, up),
			podCondition(corev1.ContainersReady, ready, why, up),
			podCondition(corev1.PodScheduled, corev1.ConditionTrue, "", p.created),
		},
		HostIP:            p.host.address.String(),
		HostIPs:           []corev1.HostIP{{IP: p.host.address.String()}},
		PodIP:             p.address.String(),
		PodIPs:            []corev1.PodIP{{IP: p.address.String()}},
		StartTime:         new(metav1.NewTime(p.created)),
		ContainerStatuses: []corev1.ContainerStatus{p.containerStatus(up)},
		QOSClass:          corev1.PodQOSBurstable,
	}
}

func podCondition(kind corev1.PodConditionType, status corev1.ConditionStatus, reason string, since time.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: status, Reason: reason, LastTransitionTime: metav1.NewTime(since), ObservedGeneration: 1}
}

func (p pod) containerStatus(up time.Time) corev1.ContainerStatus {
	id := "containerd://" + p.container
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(up)}}
	if p.finished {
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			Reason: "Completed", StartedAt: metav1.NewTime(up), FinishedAt: metav1.NewTime(up.Add(5 * time.Minute)), ContainerID: id,
		}}
	}
	return corev1.ContainerStatus{
		Name: p.app.name, State: state, Ready: !p.finished, Started: new(!p.finished), Image: p.app.image, ImageID: p.app.digest, ContainerID: id,
		AllocatedResources: podResources.Requests, Resources: &podResources,
		VolumeMounts: []corev1.VolumeMountStatus{
			{Name: "cache", MountPath: "/var/cache/" + p.app.name},
			{Name: p.volume, MountPath: tokenPath, ReadOnly: true, RecursiveReadOnly: new(corev1.RecursiveReadOnlyDisabled)},
		},
	}
}
