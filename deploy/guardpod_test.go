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

// guardPod returns the agent's pod with the guard daemon, and the guard daemon's container.
func guardPod(t *testing.T) (core.PodSpec, core.Container) {
	t.Helper()
	sets := of[*apps.DaemonSet](objects(t, "guard.yaml"))
	if len(sets) != 1 || len(sets[0].Spec.Template.Spec.Containers) != 2 {
		t.Fatal("want one DaemonSet of two containers")
	}
	pod := sets[0].Spec.Template.Spec
	return pod, pod.Containers[1]
}

// TestGuardDaemonHasDocumentedCapabilities: each capability is one more way to harm a node.
func TestGuardDaemonHasDocumentedCapabilities(t *testing.T) {
	t.Parallel()
	_, daemon := guardPod(t)
	sc := daemon.SecurityContext
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
			t.Errorf("docs/guard.md does not explain capability %s", c)
		}
	}
	if *sc.Privileged || *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || sc.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context is %v", sc)
	}
	if len(daemon.Ports) > 0 {
		t.Errorf("the guard daemon listens on %v", daemon.Ports)
	}
}

// TestGuardDoesNotChangeTheAgent: with the guard the agent's container has the same
// permissions; the manifest has one more ConfigMap.
func TestGuardDoesNotChangeTheAgent(t *testing.T) {
	t.Parallel()
	bare, _ := agentPod(t, "repair.yaml")
	pod, daemon := guardPod(t)
	if !reflect.DeepEqual(bare.Containers[0], pod.Containers[0]) {
		t.Error("the agent's container differs from the one in repair.yaml")
	}
	if daemon.Image != pod.Containers[0].Image {
		t.Errorf("the guard daemon's image is %s", daemon.Image)
	}
	more := pod.Volumes[len(bare.Volumes):]
	if !reflect.DeepEqual(bare.Volumes, pod.Volumes[:len(bare.Volumes)]) || len(more) != 1 || more[0].ConfigMap == nil {
		t.Fatalf("volumes %v, want the agent's and one ConfigMap", pod.Volumes)
	}
	pod.Containers, pod.Volumes = pod.Containers[:1], pod.Volumes[:len(bare.Volumes)]
	if !reflect.DeepEqual(bare, pod) {
		t.Error("the rest of the pod differs from the one in repair.yaml")
	}
	without, with := objects(t, "repair.yaml"), objects(t, "guard.yaml")
	if len(of[*core.ConfigMap](without)) != 0 || len(with) != len(without)+1 {
		t.Error("guard.yaml has more than one additional object")
	}
}

// TestGuardDefaultsToObserve: the guard changes results only if somebody sets the mode. The
// ConfigMap is mounted as a directory, which the kubelet keeps current, and is optional.
func TestGuardDefaultsToObserve(t *testing.T) {
	t.Parallel()
	modes := of[*core.ConfigMap](objects(t, "guard.yaml"))
	if len(modes) != 1 || !maps.Equal(modes[0].Data, map[string]string{"mode": "observe"}) {
		t.Fatalf("modes %v", modes)
	}
	pod, daemon := guardPod(t)
	source := pod.Volumes[len(pod.Volumes)-1]
	if source.ConfigMap.Name != modes[0].Name || !*source.ConfigMap.Optional {
		t.Errorf("modes come from %v", source.ConfigMap)
	}
	i := slices.IndexFunc(daemon.VolumeMounts, func(m core.VolumeMount) bool { return m.Name == source.Name })
	if i < 0 || daemon.VolumeMounts[i].SubPath != "" || !slices.Contains(daemon.Args, "--modes="+daemon.VolumeMounts[i].MountPath) {
		t.Errorf("mounts %v, arguments %q", daemon.VolumeMounts, daemon.Args)
	}
}
