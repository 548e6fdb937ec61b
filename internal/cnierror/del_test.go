package cnierror

import (
	"strings"
	"testing"
)

const id = "340b1c7a1a908463446030e936216ed961208ef19c39137d4265fcf33cd19472"

// What kubelets and runtimes wrote when a DEL failed, and what only looks like it.
func TestFailedDel(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		`"StopPodSandbox from runtime service failed" err="rpc error: code = Unknown desc = failed to destroy network for sandbox \"` + id + `\": plugin type=\"calico\" failed (delete): netplugin failed with no error message" podSandboxID="` + id + `"`: `plugin type="calico" failed (delete): netplugin failed with no error message`,
		`failed to destroy network for pod sandbox k8s_POD(` + id + `): error removing pod ns_p from CNI network "k8s-pod-network": Unauthorized`:                                                                                                            `): error removing pod ns_p from CNI network "k8s-pod-network": Unauthorized`,
		`StopPodSandbox "` + id + `" from runtime service failed: rpc error: code = 2 desc = NetworkPlugin cni failed to teardown pod "p_ns" network: no such device`:                                                                                        `no such device`,
	} {
		if !IsFailedDel(text) || Sandbox(text) != id || DelReason(text) != reason {
			t.Errorf("%s:\n%t %s %q", text, IsFailedDel(text), Sandbox(text), DelReason(text))
		}
	}
	for _, text := range []string{
		"", `"StopPodSandbox from runtime service failed" err="context deadline exceeded" podSandboxID="` + id + `"`,
		`failed to setup network for sandbox "` + id + `": plugin type="calico" failed (add): x`,
	} {
		if IsFailedDel(text) || DelReason(text) != text {
			t.Errorf("%q: %q", text, DelReason(text))
		}
	}
}

func FuzzDelReason(f *testing.F) {
	f.Add(`failed to destroy network for sandbox "` + id + `": x" podSandboxID=`)
	f.Add(`from CNI network\"`)
	f.Fuzz(func(t *testing.T, text string) {
		if got := DelReason(text); len(got) > len(text) || text != "" && got == "" {
			t.Errorf("%q", got)
		}
		if s := Sandbox(text); !strings.Contains(text, s) {
			t.Errorf("%q", s)
		}
	})
}
