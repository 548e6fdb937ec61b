package parse

import (
	"strings"
	"testing"
)

const (
	idA = "340b1c7a1a908463446030e936216ed961208ef19c39137d4265fcf33cd19472"
	idB = "d4186da55842c94289f2b57afdf2dc493ff137b70373062ac0d0205d61411401"
	uid = "07cbebe7-7fb6-444c-8a9c-f8ec15528f6c"
)

// Formats of old are those of Kubernetes' source at v1.7.6, v1.13.0 and v1.21.0: besides the
// seeds none was recorded by us.
func TestKubeletFormats(t *testing.T) {
	t.Parallel()
	old := `db-0_shop(` + uid + `)`
	compare(t, []toldCase{
		{"several pods", klogLine("kubelet.go", `SyncLoop (ADD, "api"): "`+old+`, web-1_shop(1d402e65-d898-11e7-b1cd-5254171bf8db)"`), []string{
			"kubelet: pod seen pod=shop/db-0 uid=07cbebe7-7fb", "kubelet: pod seen pod=shop/web-1 uid=1d402e65-d89",
		}},
		{"update with an end", klogLine("kubelet.go", `SyncLoop (UPDATE, "api"): "`+old+`:DeletionTimestamp=2017-12-13T02:28:19Z"`), []string{"kubelet: pod terminating pod=shop/db-0 uid=07cbebe7-7fb"}},
		{"delete", klogLine("kubelet.go", `SyncLoop (DELETE, "api"): "`+old+`"`), []string{"kubelet: pod terminating pod=shop/db-0 uid=07cbebe7-7fb"}},
		{"remove", klogLine("kubelet.go", `SyncLoop (REMOVE, "api"): "`+old+`"`), []string{"kubelet: pod gone pod=shop/db-0 uid=07cbebe7-7fb"}},
		{"reconcile is nothing", klogLine("kubelet.go", `SyncLoop (RECONCILE, "api"): "`+old+`"`), nil},
		{"names without quotes", klogLine("kubelet.go", `"SyncLoop ADD" source="api" pods=[shop/db-0 shop/web-1]`), []string{"kubelet: pod seen pod=shop/db-0", "kubelet: pod seen pod=shop/web-1"}},
		{"list in quotes", klogLine("kubelet.go", `"SyncLoop ADD" source="api" pods="[shop/db-0 shop/web-1]"`), []string{"kubelet: pod seen pod=shop/db-0", "kubelet: pod seen pod=shop/web-1"}},
		{"lifecycle of 1.7", klogLine("kubelet.go", `SyncLoop (PLEG): "`+old+`", event: &pleg.PodLifecycleEvent{ID:"`+uid+`", Type:"ContainerDied", Data:"`+idB+`"}`), []string{
			"kubelet: container died pod=shop/db-0 uid=07cbebe7-7fb container=d4186da55842",
		}},
		{"lifecycle of 1.21", klogLine("kubelet.go", `"SyncLoop (PLEG): event for pod" pod="shop/db-0" event=&{ID:`+uid+` Type:ContainerStarted Data:`+idB+`}`), []string{
			"kubelet: container started pod=shop/db-0 uid=07cbebe7-7fb container=d4186da55842",
		}},
		{
			"a known sandbox", klogLine("remote_runtime.go", `RemovePodSandbox "`+idA+`" from runtime service failed: rpc error: code = 2 desc = busy`) +
				klogLine("kubelet.go", `"SyncLoop (PLEG): event for pod" pod="shop/db-0" event={"ID":"`+uid+`","Type":"ContainerDied","Data":"`+idA+`"}`) +
				klogLine("kubelet.go", `"SyncLoop (PLEG): event for pod" pod="shop/db-0" event={"ID":"`+uid+`","Type":"ContainerStarted","Data":"`+idA+`"}`),
			[]string{
				"kubelet: sandbox remove failed sandbox=340b1c7a1a90 note=rpc error: code = 2 desc = busy",
				"kubelet: container died pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
				"kubelet: sandbox created pod=shop/db-0 uid=07cbebe7-7fb sandbox=340b1c7a1a90",
			},
		},
		{"plugin of 1.13", klogLine("cni.go", `Error deleting shop_db-0/`+idA+` from network calico/k8s-pod-network: connection is unauthorized`), []string{
			"kubelet: DEL failed pod=shop/db-0 sandbox=340b1c7a1a90 note=connection is unauthorized",
		}},
		{"plugin begins", klogLine("cni.go", `Adding shop_db-0/`+idA+` to network calico/k8s-pod-network netns "/proc/1/ns/net"`), []string{"kubelet: ADD begin pod=shop/db-0 sandbox=340b1c7a1a90"}},
		{"sandbox not created", klogLine("kuberuntime_sandbox.go", `CreatePodSandbox for pod "`+old+`" failed: rpc error: code = 2 desc = NetworkPlugin cni failed to set up pod "db-0_shop" network: no addresses`), []string{
			`kubelet: ADD failed pod=shop/db-0 uid=07cbebe7-7fb note=rpc error: code = 2 desc = NetworkPlugin cni failed to set up pod "db-0_shop" network: no addresses`,
		}},
		{"sandbox not created today", klogLine("kuberuntime_sandbox.go", `"Failed to create sandbox for pod" err="rpc error: code = Unknown desc = failed to setup network for sandbox \"`+idA+`\": no" pod="shop/db-0"`), []string{
			`kubelet: ADD failed pod=shop/db-0 sandbox=340b1c7a1a90 note=rpc error: code = Unknown desc = failed to setup network for sandbox "` + idA + `": no`,
		}},
		{"name is reserved", klogLine("kuberuntime_sandbox.go", `"Failed to create sandbox for pod" err="rpc error: code = Unknown desc = error reserving pod name: name is reserved" pod="shop/db-0"`), []string{
			"kubelet: runtime timeout pod=shop/db-0 note=rpc error: code = Unknown desc = error reserving pod name: name is reserved",
		}},
		{"killed of old", klogLine("kuberuntime_container.go", `Killing container "docker://`+idB+`" with 30 second grace period`), []string{"kubelet: pod killed container=d4186da55842"}},
		{"hook", klogLine("kuberuntime_container.go", `"PreStop hook failed" err="command '/bin/sleep 30' exited with 126: " pod="shop/db-0" podUID="`+uid+`" containerName="main" containerID="containerd://`+idB+`"`), []string{
			"kubelet: exec failed pod=shop/db-0 uid=07cbebe7-7fb container=d4186da55842 note=command '/bin/sleep 30' exited with 126:",
		}},
		{"runtime silent", klogLine("kubelet.go", `skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.5s ago; threshold is 3m0s]`), []string{
			"kubelet: runtime timeout note=skipping pod synchronization - [PLEG is not healthy: pleg was last seen active 3m5.5s ago; threshold is 3m0s]",
		}},
		{"runtime lists nothing", klogLine("log.go", `"ListPodSandbox with filter from runtime service failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" filter="nil"`), []string{
			"kubelet: runtime timeout note=rpc error: code = DeadlineExceeded desc = context deadline exceeded",
		}},
		{"runtime answers no", klogLine("log.go", `"Status from runtime service failed" err="rpc error: code = Unavailable desc = connection refused"`), nil},
		{"volumes", klogLine("kubelet.go", `"Unable to attach or mount volumes for pod; skipping pod" err="unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition" pod="shop/db-0"`), []string{
			"kubelet: mount timeout pod=shop/db-0 note=unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition",
		}},
		{"a volume", klogLine("nestedpendingoperations.go", `Operation for "\"kubernetes.io/glusterfs/x\"" failed. No retries permitted until 2019-04-08. Error: "MountVolume.SetUp failed for volume \"data\" (UniqueName: \"g\") pod \"db-0\" (UID: \"`+uid+`\") : mount failed: operation timed out"`), []string{
			`kubelet: mount timeout uid=07cbebe7-7fb object=data note="MountVolume.SetUp failed for volume "data" (UniqueName: "g") pod "db-0" (UID: "` + uid + `") : mount failed: operation timed out"`,
		}},
		{"started", klogLine("server.go", `Started kubelet v1.7.6`), []string{"kubelet: kubelet started note=v1.7.6"}},
		{"node not ready", klogLine("setters.go", `"Node became not ready" node="n1" condition={"type":"Ready","status":"False","message":"PLEG is not healthy"}`), []string{
			`kubelet: node not ready node=n1 note={"type":"Ready","status":"False","message":"PLEG is not healthy"}`,
		}},
		{"node by controller", klogLine("controller_utils.go", `"Recording status change event message for node" logger="node-lifecycle-controller" status="NodeNotReady" node="n2"`), []string{"controller-manager: node not ready node=n2"}},
		{"node by controller of old", klogLine("controller_utils.go", `Recording status change NodeNotReady event message for node n2`), []string{"controller-manager: node not ready node=n2"}},
		{"gone", klogLine("status_manager.go", `Pod "`+old+`" fully terminated and removed from etcd`), []string{"kubelet: pod gone pod=shop/db-0 uid=07cbebe7-7fb"}},
		{"status today", klogLine("status_manager.go", `"Status for pod updated successfully" pod="shop/db-0" statusVersion=3 status={"phase":"Running","podIP":"10.1.2.3","containerStatuses":[{"containerID":"containerd://`+idB+`"}]}`), []string{
			"kubelet: pod seen pod=shop/db-0 container=d4186da55842 address=10.1.2.3",
		}},
	})
}

// The kubelet's JSON format gives the same events as its text format.
func TestKubeletJSON(t *testing.T) {
	t.Parallel()
	compare(t, []toldCase{
		{"event", `{"ts":1794747999000.5,"caller":"kubelet/kubelet.go:2546","msg":"SyncLoop (PLEG): event for pod","v":2,"pod":{"name":"db-0","namespace":"shop"},"event":{"ID":"` + uid + `","Type":"ContainerStarted","Data":"` + idB + `"}}` + "\n", []string{
			"kubelet: container started pod=shop/db-0 uid=07cbebe7-7fb container=d4186da55842",
		}},
		{"pods", `{"ts":1794747999000.5,"caller":"kubelet/kubelet.go:2515","msg":"SyncLoop DELETE","v":2,"source":"api","pods":[{"name":"db-0","namespace":"shop"},{"name":"web-1","namespace":"shop"}]}` + "\n", []string{
			"kubelet: pod terminating pod=shop/db-0", "kubelet: pod terminating pod=shop/web-1",
		}},
		{"error", `{"ts":1794747999000.5,"caller":"cri-client/log.go:32","msg":"StopPodSandbox from runtime service failed","err":"failed to destroy network for sandbox \"` + idA + `\"","podSandboxID":"` + idA + `"}` + "\n", []string{
			`kubelet: sandbox stop failed sandbox=340b1c7a1a90 note=failed to destroy network for sandbox "` + idA + `"`,
		}},
		{"others", `{"ts":1794747999000.5,"caller":"etcdserver/server.go:32","msg":"Kubelet versions","v":1}` + "\n", nil},
	})
}

// A credential in an error is reported and not repeated.
func TestErrorWithCredential(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-Pa55word"
	got := strings.Join(toldOf(t, klogLine("cni.go", "Error deleting network: get https://admin:"+secret+"@10.0.0.1:2379/v2/keys: refused")), "\n")
	if strings.Contains(got, secret) || !strings.Contains(got, "credential seen") || !strings.Contains(got, "kubelet: DEL failed") {
		t.Error(got)
	}
}
