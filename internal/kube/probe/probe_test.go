package probe

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"plumbline.dev/plumbline/internal/model"
)

// Kubernetes' own types know every field of the pod, and it asks for no more than said.
func TestProbePod(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(probePod(Probe{Namespace: "kube-system", Image: "plumbline.dev/plumbline-agent:dev", Node: "w1"}))
	if err != nil {
		t.Fatal(err)
	}
	var p corev1.Pod
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		t.Fatal(err)
	}
	s := p.Spec
	if p.GenerateName != "plumbline-probe-" || p.Labels["app.kubernetes.io/component"] != "probe" || s.NodeName != "w1" || s.RestartPolicy != corev1.RestartPolicyNever ||
		*s.ActiveDeadlineSeconds != 120 || !s.HostNetwork || !s.HostPID || *s.AutomountServiceAccountToken || len(s.Volumes) != 0 || s.Tolerations[0].Operator != corev1.TolerationOpExists {
		t.Errorf("%s", b)
	}
	c := s.Containers[0].SecurityContext
	if *c.Privileged || *c.AllowPrivilegeEscalation || *c.RunAsUser != 0 || len(c.Capabilities.Add) != 3 || c.Capabilities.Drop[0] != "ALL" {
		t.Errorf("%+v", c)
	}
}

const oneProbe = "/api/v1/namespaces/kube-system/pods/plumbline-probe-x7k2p"

func TestProbesOnly(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"GET", "/api/v1/pods"},
		{"POST", "/api/v1/pods"},
		{"POST", "/api/v1/namespaces/plumbline-system/serviceaccounts/plumbline-reader/token"},
		{"POST", "/api/v1/namespaces/a/pods/b/exec"},
		{"POST", "/api/v1/namespaces/a/pods/b/eviction"},
		{"POST", "/api/v1/namespaces/a/secrets"},
		{"PUT", oneProbe},
		{"PATCH", oneProbe},
		{"DELETE", "/api/v1/namespaces/kube-system/pods"},
		{"DELETE", "/api/v1/namespaces/a/pods/b"},
		{"DELETE", oneProbe + "/x"},
		{"DELETE", "/api/v1/namespaces/a/pods/plumbline-probe-"},
		{"DELETE", "/api/v1/namespaces/kube-system"},
		{"DELETE", "/api/v1/namespaces/a/secrets/plumbline-probe-x"},
	} {
		if mayProbe(c[0], c[1]) {
			t.Errorf("%s was sent", c)
		}
	}
	if !mayProbe("POST", "/api/v1/namespaces/kube-system/pods") || !mayProbe("DELETE", oneProbe) {
		t.Error("a probe cannot be made and removed")
	}
}

func TestProbeEnd(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"phase":"Succeeded"}`: "done", `{"phase":"Running"}`: "", `{"phase":"Pending"}`: "", `{}`: "",
		`{"phase":"Failed","reason":"OutOfpods","message":"no\u001b room"}`:                                                                      "the probe pod failed: OutOfpods no  room",
		`{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":3}}}]}`:                                                       "exit code 3",
		`{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"x\""}}}]}`: "the probe pod does not start: ImagePullBackOff",
		`{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]}`:                                         "",
	} {
		o, err := readProbe([]byte(`{"metadata":{"name":"n","uid":"u"},"status":` + text + `}`))
		if err != nil {
			t.Fatal(err)
		}
		done, err := o.ended()
		switch {
		case want == "done":
			if !done || err != nil {
				t.Errorf("%s: %v, %v", text, done, err)
			}
		case want == "":
			if done || err != nil {
				t.Errorf("%s: %v, %v", text, done, err)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, bad := range []string{`{`, `{}`, `{"metadata":{"name":"n"}}`} {
		if _, err := readProbe([]byte(bad)); err == nil {
			t.Errorf("%s passes", bad)
		}
	}
}

func TestLeftBehind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pod  model.Pod
		want bool
	}{
		"over":    {model.Pod{Phase: model.Failed, Created: 1000}, true},
		"at work": {model.Pod{Phase: model.Running, Created: 1000}, false},
		"stuck":   {model.Pod{Phase: model.Pending, Created: 1}, true},
	} {
		if leftBehind(&c.pod, 1100) != c.want {
			t.Errorf("%s: not %v", name, c.want)
		}
	}
}

func FuzzProbe(f *testing.F) {
	f.Add([]byte(`{"metadata":{"name":"n","uid":"u"},"status":{"phase":"Failed","containerStatuses":[{"state":{"waiting":{}}}]}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := readProbe(b)
		if err != nil {
			return
		}
		if done, err := o.ended(); done && err != nil {
			t.Errorf("done, and %v", err)
		}
	})
}
