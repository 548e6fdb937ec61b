package load

import (
	"maps"
	"slices"
	"strings"
)

// The texts of managedFields, as the API server writes them: they are half of a pod's
// size.

// controllerFields lists the fields that the controller of the pod sets, among them
// these labels.
func controllerFields(p pod, set map[string]string) string {
	var labels strings.Builder
	for _, l := range slices.Sorted(maps.Keys(set)) {
		labels.WriteString(`,"f:` + l + `":{}`)
	}
	return `{"f:metadata":{"f:generateName":{},"f:labels":{".":{}` + labels.String() + `},"f:ownerReferences":{".":{},"k:{\"uid\":\"` + p.app.uid +
		`\"}":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"` + p.app.name + `\"}":{".":{},"f:image":{},"f:imagePullPolicy":{},"f:name":{},` +
		`"f:ports":{".":{},"k:{\"containerPort\":8080,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},` +
		`"f:resources":{".":{},"f:limits":{".":{},"f:memory":{}},"f:requests":{".":{},"f:cpu":{},"f:memory":{}}},` +
		`"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/var/cache/` + p.app.name +
		`\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:restartPolicy":{},"f:schedulerName":{},` +
		`"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:volumes":{".":{},"k:{\"name\":\"cache\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}`
}

// calicoFields lists the fields that Calico's plugin sets.
const calicoFields = `{"f:metadata":{"f:annotations":{".":{},"f:` + annotationSandbox + `":{},"f:` + annotationIP + `":{},"f:` + annotationIPs + `":{}}}}`

const conditionFields = `{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:observedGeneration":{},"f:status":{},"f:type":{}}`

const conditionsFields = `{"k:{\"type\":\"ContainersReady\"}":` + conditionFields + `,"k:{\"type\":\"Initialized\"}":` + conditionFields +
	`,"k:{\"type\":\"PodReadyToStartContainers\"}":` + conditionFields + `,"k:{\"type\":\"PodScheduled\"}":{"f:observedGeneration":{}},` +
	`"k:{\"type\":\"Ready\"}":` + conditionFields + `}`

// kubeletFields lists the fields that the kubelet sets.
func kubeletFields(p pod) string {
	return `{"f:status":{"f:conditions":` + conditionsFields + `,"f:containerStatuses":{},"f:hostIP":{},"f:hostIPs":{},"f:observedGeneration":{},` +
		`"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"` + p.address.String() + `\"}":{".":{},"f:ip":{}}},"f:startTime":{}}}`
}

// The managers of a node's fields.
const (
	nodeBirthFields = `{"f:metadata":{"f:annotations":{".":{},"f:volumes.kubernetes.io/controller-managed-attach-detach":{}},` +
		`"f:labels":{".":{},"f:beta.kubernetes.io/arch":{},"f:beta.kubernetes.io/os":{},"f:kubernetes.io/arch":{},"f:kubernetes.io/hostname":{},"f:kubernetes.io/os":{}}}}`
	nodeCalicoFields = `{"f:metadata":{"f:annotations":{"f:projectcalico.org/IPv4Address":{},"f:projectcalico.org/IPv4VXLANTunnelAddr":{},` +
		`"f:projectcalico.org/Interfaces":{}}}}`
	nodeControllerFields = `{"f:metadata":{"f:annotations":{"f:node.alpha.kubernetes.io/ttl":{}}}}`
	nodeStatusFields     = `{"f:status":{"f:conditions":{"k:{\"type\":\"DiskPressure\"}":{"f:lastHeartbeatTime":{}},` +
		`"k:{\"type\":\"MemoryPressure\"}":{"f:lastHeartbeatTime":{}},"k:{\"type\":\"PIDPressure\"}":{"f:lastHeartbeatTime":{}},` +
		`"k:{\"type\":\"Ready\"}":{"f:lastHeartbeatTime":{},"f:message":{},"f:reason":{},"f:status":{}}}}}`
)
