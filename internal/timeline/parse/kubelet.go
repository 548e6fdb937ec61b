package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// kubeletSays is what the kubelet and the node controllers say that matters, by the source
// file that says it. What begins with a quote is of the kubelet since 1.21, which logs with
// fields. Of several lines about one failure only those are here that name pod or sandbox
// together with the error.
var kubeletSays = map[string][]phrase{
	"kubelet.go": {
		{`"SyncLoop (PLEG): event for pod"`, (*Teller).lifecycle},
		{`"SyncLoop ADD"`, (*Teller).podsListed},
		{`"SyncLoop DELETE"`, (*Teller).podsListed},
		{`"SyncLoop REMOVE"`, (*Teller).podsListed},
		{`"Unable to attach or mount volumes for pod`, (*Teller).unmounted},
		{`"Skipping pod synchronization"`, (*Teller).stalled},
		{`SyncLoop (PLEG): "`, (*Teller).lifecycle},
		{`SyncLoop (ADD, `, (*Teller).podsListed2017},
		{`SyncLoop (UPDATE, `, (*Teller).podsListed2017},
		{`SyncLoop (DELETE, `, (*Teller).podsListed2017},
		{`SyncLoop (REMOVE, `, (*Teller).podsListed2017},
		{`error killing pod: `, (*Teller).killFailed2017},
		{`Unable to mount volumes for pod "`, (*Teller).unmounted},
		{`skipping pod synchronization`, (*Teller).stalled},
	},
	"kuberuntime_manager.go": {
		{`"Determined the ip for pod after sandbox changed"`, (*Teller).addressed},
		{`Determined the ip "`, (*Teller).addressed2017},
		{`"Failed to stop sandbox"`, (*Teller).sandboxNamed},
		{`Failed to stop sandbox "`, (*Teller).sandboxNamed},
	},
	"kuberuntime_sandbox.go": {
		{`"Failed to create sandbox for pod"`, (*Teller).notCreated},
		{`CreatePodSandbox for pod "`, (*Teller).notCreated2017},
	},
	"kuberuntime_container.go": {
		{`"Killing container with a grace period"`, (*Teller).containerTold},
		{`"Container termination failed`, (*Teller).containerTold},
		{`"PreStop hook failed"`, (*Teller).containerTold},
		{`Killing container "`, (*Teller).containerTold2017},
		{`preStop hook for container "`, (*Teller).containerTold2017},
	},
	"remote_runtime.go": serviceSays,
	"log.go":            serviceSays, // of k8s.io/cri-client, which logs for the kubelet of today
	"status_manager.go": {
		{`"Pod was deleted and then recreated`, (*Teller).podGone},
		{`"Pod fully terminated and removed from etcd"`, (*Teller).podGone},
		{`"Status for pod updated successfully"`, (*Teller).status},
		{`Ignoring same status for pod "`, (*Teller).status2017},
		{`Status for pod "`, (*Teller).status2017},
		{`Pod "`, (*Teller).podGone2017},
	},
	"pod_workers.go": {
		{`"Error syncing pod, skipping"`, (*Teller).notSynced},
		{`Error syncing pod `, (*Teller).notSynced2017},
	},
	"summary.go":        {{`Missing default interface "`, (*Teller).withoutInterface}},
	"docker_sandbox.go": {{`failed to read pod IP from plugin/docker: `, (*Teller).namespaceGone}},
	"cni.go": {
		{`CNI failed to retrieve network namespace path: `, (*Teller).namespaceGone},
		{`Error deleting `, (*Teller).pluginTold},
		{`Error adding `, (*Teller).pluginTold},
		{`Deleting `, (*Teller).pluginTold},
		{`Adding `, (*Teller).pluginTold},
	},
	"nestedpendingoperations.go": {{`Operation for "`, (*Teller).volumeFailed}},
	"generic.go":                 {{`GenericPLEG: Unable to retrieve pods: `, (*Teller).stalled}, {`"GenericPLEG: Unable to retrieve pods"`, (*Teller).stalled}},
	"server.go":                  {{`"Kubelet version"`, (*Teller).kubeletStarted}, {`Started kubelet`, (*Teller).kubeletStarted}},
	"setters.go":                 {{`"Node became not ready"`, (*Teller).nodeTold}},
	"kubelet_node_status.go": {
		{`"Recording event message for node"`, (*Teller).nodeTold},
		{`Recording NodeReady event`, (*Teller).nodeTold2017},
		{`Node became not ready: `, (*Teller).nodeTold2017},
	},
	"controller_utils.go": {
		{`"Recording status change event message for node"`, (*Teller).nodeTold},
		{`Recording status change `, (*Teller).nodeTold2017},
	},
	"node_lifecycle_controller.go": {{`"Node is healthy again`, (*Teller).nodeTold}},
	"taint_eviction.go":            {{`"Deleting pod"`, (*Teller).evicted}},
}

// kubeletBegins are the first bytes of all that. Most lines begin otherwise, and need not
// be looked up by their source file.
var kubeletBegins = beginningsOf(kubeletSays)

func wantsKubelet(r *records.Record) bool {
	return kubeletBegins.may(r.Text) && heard(kubeletSays[r.Origin], r.Text) != nil
}

func (t *Teller) kubelet(r *records.Record) {
	t.secrets(r)
	if p := heard(kubeletSays[r.Origin], r.Text); p != nil {
		p.tell(t, r)
	}
}

// fromKubelet emits what the kubelet of this node tells.
func (t *Teller) fromKubelet(r *records.Record, e timeline.Event) { t.say(r, "kubelet", e) }

// failure gives a line's error: its err field, or what follows the first ": ".
func failure(text []byte) []byte {
	if len(text) > 0 && text[0] == '"' {
		return unescaped(field(text, "err"))
	}
	_, after, _ := bytes.Cut(text, []byte(": "))
	return after
}

// late tells whether an error says that something took too long.
func late(words []byte) bool {
	for _, w := range [...]string{"DeadlineExceeded", "deadline exceeded", "operation timeout", "timed out", "timeout"} {
		if indexString(words, w) >= 0 {
			return true
		}
	}
	return false
}

// ofNetwork tells whether an error is of a network that could not be set up or taken down,
// in the words of dockershim, containerd and CRI-O.
func ofNetwork(words []byte) bool {
	for _, w := range [...]string{"network for sandbox", "NetworkPlugin cni failed", "CNI network", "network for pod sandbox", "pod network sandbox"} {
		if indexString(words, w) >= 0 {
			return true
		}
	}
	return false
}
