package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// kubeletSays are the messages of the kubelet and the node controllers that are parsed, by the
// source file that logs them. Those that begin with a quote are of the kubelet since 1.21, which
// logs with fields. Of several lines about one failure only those are here that name pod or
// sandbox together with the error.
var kubeletSays = map[string][]phrase{
	"kubelet.go": {
		{`"SyncLoop (PLEG): event for pod"`, (*Parser).lifecycle},
		{`"SyncLoop ADD"`, (*Parser).podsListed},
		{`"SyncLoop DELETE"`, (*Parser).podsListed},
		{`"SyncLoop REMOVE"`, (*Parser).podsListed},
		{`"Unable to attach or mount volumes for pod`, (*Parser).unmounted},
		{`"Skipping pod synchronization"`, (*Parser).stalled},
		{`SyncLoop (PLEG): "`, (*Parser).lifecycle},
		{`SyncLoop (ADD, `, (*Parser).podsListed2017},
		{`SyncLoop (UPDATE, `, (*Parser).podsListed2017},
		{`SyncLoop (DELETE, `, (*Parser).podsListed2017},
		{`SyncLoop (REMOVE, `, (*Parser).podsListed2017},
		{`error killing pod: `, (*Parser).killFailed2017},
		{`Unable to mount volumes for pod "`, (*Parser).unmounted},
		{`skipping pod synchronization`, (*Parser).stalled},
	},
	"kuberuntime_manager.go": {
		{`"CreatePodSandbox for pod failed"`, (*Parser).notCreated},
		{`CreatePodSandbox for pod "`, (*Parser).notCreated},
		{`"Determined the ip for pod after sandbox changed"`, (*Parser).addressed},
		{`Determined the ip "`, (*Parser).addressed},
		{`"Failed to stop sandbox"`, (*Parser).sandboxNamed},
		{`Failed to stop sandbox "`, (*Parser).sandboxNamed},
	},
	"kuberuntime_sandbox.go": {
		{`"Failed to create sandbox for pod"`, (*Parser).notCreated},
		{`CreatePodSandbox for pod "`, (*Parser).notCreated},
	},
	"kuberuntime_container.go": {
		{`"Killing container with a grace period"`, (*Parser).containerTold},
		{`"Container termination failed`, (*Parser).containerTold},
		{`"PreStop hook failed"`, (*Parser).containerTold},
		{`Killing container "`, (*Parser).containerTold2017},
		{`preStop hook for container "`, (*Parser).containerTold2017},
	},
	"remote_runtime.go": serviceSays,
	"log.go":            serviceSays, // of k8s.io/cri-client, which logs for the kubelet of today
	"status_manager.go": {
		{`"Pod was deleted and then recreated`, (*Parser).podGone},
		{`"Pod fully terminated and removed from etcd"`, (*Parser).podGone},
		{`"Status for pod updated successfully"`, (*Parser).status},
		{`Ignoring same status for pod "`, (*Parser).status},
		{`Status for pod "`, (*Parser).status},
		{`Pod "`, (*Parser).podGone2017},
	},
	"pod_workers.go": {
		{`"Error syncing pod, skipping"`, (*Parser).notSynced},
		{`Error syncing pod `, (*Parser).notSynced2017},
	},
	"summary.go":        {{`Missing default interface "`, (*Parser).withoutInterface}},
	"docker_sandbox.go": {{`failed to read pod IP from plugin/docker: `, (*Parser).namespaceGone}},
	"cni.go": {
		{`CNI failed to retrieve network namespace path: `, (*Parser).namespaceGone},
		{`Error deleting `, (*Parser).pluginTold},
		{`Error adding `, (*Parser).pluginTold},
		{`Deleting `, (*Parser).pluginTold},
		{`Adding `, (*Parser).pluginTold},
	},
	"nestedpendingoperations.go": {{`Operation for "`, (*Parser).volumeFailed}},
	"generic.go":                 {{`GenericPLEG: Unable to retrieve pods: `, (*Parser).stalled}, {`"GenericPLEG: Unable to retrieve pods"`, (*Parser).stalled}},
	"server.go":                  {{`"Kubelet version"`, (*Parser).kubeletStarted}, {`Started kubelet`, (*Parser).kubeletStarted}},
	"setters.go":                 {{`"Node became not ready"`, (*Parser).nodeTold}},
	"kubelet_node_status.go": {
		{`"Recording event message for node"`, (*Parser).nodeTold},
		{`Recording NodeReady event`, (*Parser).nodeTold2017},
		{`Node became not ready: `, (*Parser).nodeTold2017},
	},
	"controller_utils.go": {
		{`"Recording status change event message for node"`, (*Parser).nodeTold},
		{`Recording status change `, (*Parser).nodeTold2017},
	},
	"node_lifecycle_controller.go": {{`"Node is healthy again`, (*Parser).nodeTold}},
	"taint_eviction.go":            {{`"Deleting pod"`, (*Parser).evicted}},
}

// kubeletBegins filters lines by their first bytes, before the lookup by source file.
var kubeletBegins = beginningsOf(kubeletSays)

func wantsKubelet(r *records.Record) bool {
	return kubeletBegins.may(r.Text) && heard(kubeletSays[r.Origin], r.Text) != nil
}

func (t *Parser) kubelet(r *records.Record) {
	t.secrets(r)
	if p := heard(kubeletSays[r.Origin], r.Text); p != nil {
		p.parse(t, r)
	}
}

// fromKubelet emits an event of this node's kubelet.
func (t *Parser) fromKubelet(r *records.Record, e timeline.Event) { t.say(r, "kubelet", e) }

// failure gives a line's error: its err field, or the text after the first ": ".
func failure(text []byte) []byte {
	if len(text) > 0 && text[0] == '"' {
		return unescaped(field(text, "err"))
	}
	_, after, _ := bytes.Cut(text, []byte(": "))
	return after
}

// late reports whether an error is a timeout.
func late(words []byte) bool {
	return containsAny(words, "DeadlineExceeded", "deadline exceeded", "timed out", "timeout")
}

// ofNetwork reports whether an error is about a network that could not be set up or torn down, in
// the messages of dockershim, containerd and CRI-O.
func ofNetwork(words []byte) bool {
	return containsAny(words, "network for sandbox", "NetworkPlugin cni failed", "CNI network", "network for pod sandbox", "pod network sandbox")
}

// notCreatedBy gives what an error of the creation of a sandbox shows: that its network failed,
// that the runtime did not answer in time (then a second request finds the name reserved), or
// only that the pod exists.
func notCreatedBy(words []byte) timeline.Kind {
	switch {
	case ofNetwork(words):
		return timeline.AddFailed
	case late(words), indexString(words, "name is reserved") >= 0:
		return timeline.RuntimeTimeout
	default:
		return timeline.PodSeen
	}
}

// podIn gives the pod of a kubelet's line: by its fields, or in the format of 2017 by the
// name_ns(uid) after `for pod "`. UIDs are only in some lines.
func podIn(text []byte) (pod, uid string) {
	if text[0] == '"' {
		return newPod(field(text, "pod")), uidOf(field(text, "podUID"))
	}
	of, _ := between(text, `for pod "`, `"`)
	return oldPod(of)
}
