package main

import "testing"

func TestPodName(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b-0;K8S_POD_INFRA_CONTAINER_ID=x": "a.b-0",
		"": ".",
	} {
		if got := podName(args); got != want {
			t.Errorf("%q gives %q, want %q", args, got, want)
		}
	}
}
