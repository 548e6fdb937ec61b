package deploy

import (
	"os"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

func agentPod(t *testing.T, file string) (core.PodSpec, *core.SecurityContext) {
	t.Helper()
	sets := of[*apps.DaemonSet](objects(t, file))
	if len(sets) != 1 || len(sets[0].Spec.Template.Spec.Containers) != 1 {
		t.Fatal("want one DaemonSet of one container")
	}
	pod := sets[0].Spec.Template.Spec
	return pod, pod.Containers[0].SecurityContext
}

// TestAgentHasDocumentedCapabilities: docs/agent.md must explain every capability to
// those who install the agent.
func TestAgentHasDocumentedCapabilities(t *testing.T) {
	t.Parallel()
	_, sc := agentPod(t, "agent.yaml")
	want := []core.Capability{"SYS_ADMIN", "SYS_PTRACE", "DAC_READ_SEARCH", "NET_BROADCAST", "NET_ADMIN"}
	if !slices.Equal(sc.Capabilities.Add, want) || !slices.Equal(sc.Capabilities.Drop, []core.Capability{"ALL"}) {
		t.Errorf("capabilities %v, want %v and no other", sc.Capabilities, want)
	}
	guide, err := os.ReadFile("../docs/agent.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range sc.Capabilities.Add {
		if !strings.Contains(string(guide), "| `"+string(c)+"` |") {
			t.Errorf("docs/agent.md does not explain capability %s", c)
		}
	}
	if *sc.Privileged || *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || sc.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("security context is %v", sc)
	}
}

// TestAgentWritesInTwoDirectories: the agent reads all other files of the node through /proc.
func TestAgentWritesInTwoDirectories(t *testing.T) {
	t.Parallel()
	pod, _ := agentPod(t, "agent.yaml")
	var got []string
	for _, v := range pod.Volumes {
		if v.HostPath == nil {
			t.Errorf("volume %s is not a hostPath", v.Name)
			continue
		}
		got = append(got, v.HostPath.Path)
	}
	if want := []string{"/var/lib/plumbline", "/run/plumbline"}; !slices.Equal(got, want) {
		t.Errorf("directories %q, want %q", got, want)
	}
}

// TestAgentRunsOnUnhealthyNodes: it must also run on tainted, full and slow nodes.
func TestAgentRunsOnUnhealthyNodes(t *testing.T) {
	t.Parallel()
	pod, _ := agentPod(t, "agent.yaml")
	if !slices.Equal(pod.Tolerations, []core.Toleration{{Operator: core.TolerationOpExists}}) {
		t.Errorf("tolerates %v", pod.Tolerations)
	}
	// A class of the system would have pods of the node ended to make room for it.
	if pod.PriorityClassName != "plumbline-agent" {
		t.Errorf("priority %q", pod.PriorityClassName)
	}
	r := pod.Containers[0].Resources
	if !r.Limits.Cpu().IsZero() || r.Limits.Memory().IsZero() {
		t.Errorf("limits %v: want memory and no CPU", r.Limits)
	}
}
