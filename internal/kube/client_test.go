package kube

import "testing"

func TestStreams(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]bool{"v1.34.4": true, "v1.33.0": true, "v1.32.9": false, "v1.9.1": false, "v2.0.0": true, "1.34": false, "": false, "v1.34.1-eks-113cf36": true} {
		if got := streams(v); got != want {
			t.Errorf("%q: %v", v, got)
		}
	}
}
