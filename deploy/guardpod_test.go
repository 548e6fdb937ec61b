package deploy

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// guardPod gives the agent's pod with the guard's keeper in it, and the keeper.
func guardPod(t *testing.T) (core.PodSpec, core.Container) {
	t.Helper()
	sets := of[*apps.DaemonSet](objects(t, "guard.yaml"))
	if len(sets) != 1 || len(sets[0].Spec.Template.Spec.Containers) != 2 {
		t.Fatal("want one DaemonSet of two containers")
	}
	pod := sets[0].Spec.Template.Spec
	return pod, pod.Containers[1]
}

// TestKeeperHasTheRightsThatTheGuideNames: each is one more way to harm a node.
func TestKeeperHasTheRightsThatTheGuideNames(t *testing.T) {
	t.Parallel()
	_, keeper := guardPod(t)
	sc := keeper.SecurityContext
	want := []core.Capability{"SYS_PTRACE", "DAC_OVERRIDE", "CHOWN", "FOWNER", "SYS_CHROOT", "SYS_ADMIN", "NET_ADMIN"}
	if !slices.Equal(sc.Capabilities.Add, want) || !slices.Equal(sc.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("capabilities %v, want %v and no other", sc.Capabilities, want)
	}
	guide, err := os.ReadFile("../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range sc.Capabilities.Add {
		if !strings.Contains(string(guide), "| `"+string(c)+"` |") {
			t.Errorf("docs/guard.md does not say what %s is for", c)
		}
	}
	if *sc.Privileged || *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || sc.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context is %v", sc)
	}
	if len(keeper.Ports) > 0 {
		t.Errorf("it listens on %v", keeper.Ports)
	}
}

// TestGuardLeavesTheAgentAsItIs: who has the guard has the same agent, with the same
// rights, and one ConfigMap more.
func TestGuardLeavesTheAgentAsItIs(t *testing.T) {
	t.Parallel()
	bare, _ := agentPod(t)
	pod, keeper := guardPod(t)
	if !reflect.DeepEqual(bare.Containers[0], pod.Containers[0]) {
		t.Error("the agent's container differs from agent.yaml's")
	}
	if keeper.Image != pod.Containers[0].Image {
		t.Errorf("the keeper's image is %s", keeper.Image)
	}
	more := pod.Volumes[len(bare.Volumes):]
	if !reflect.DeepEqual(bare.Volumes, pod.Volumes[:len(bare.Volumes)]) || len(more) != 1 || more[0].ConfigMap == nil {
		t.Fatalf("volumes %v, want the agent's and one ConfigMap", pod.Volumes)
	}
	pod.Containers, pod.Volumes = pod.Containers[:1], pod.Volumes[:len(bare.Volumes)]
	if !reflect.DeepEqual(bare, pod) {
		t.Error("the rest of the pod differs from agent.yaml's")
	}
	without, with := objects(t, "agent.yaml"), objects(t, "guard.yaml")
	if len(of[*core.ConfigMap](without)) != 0 || len(with) != len(without)+1 {
		t.Error("guard.yaml has more than one ConfigMap more")
	}
}

// TestGuardBeginsInObserve: to change answers is for whoever says so. The mode is read as a
// whole directory, which the kubelet keeps current, and a pod starts without it.
func TestGuardBeginsInObserve(t *testing.T) {
	t.Parallel()
	modes := of[*core.ConfigMap](objects(t, "guard.yaml"))
	if len(modes) != 1 || !maps.Equal(modes[0].Data, map[string]string{"mode": "observe"}) {
		t.Fatalf("modes %v", modes)
	}
	pod, keeper := guardPod(t)
	source := pod.Volumes[len(pod.Volumes)-1]
	if source.ConfigMap.Name != modes[0].Name || !*source.ConfigMap.Optional {
		t.Errorf("modes come from %v", source.ConfigMap)
	}
	i := slices.IndexFunc(keeper.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == source.Name })
	if i < 0 || keeper.VolumeMounts[i].SubPath != "" || !slices.Contains(keeper.Args, "--modes="+keeper.VolumeMounts[i].MountPath) {
		t.Errorf("mounts %v, arguments %q", keeper.VolumeMounts, keeper.Args)
	}
}
