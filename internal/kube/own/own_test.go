package own

import "testing"

// TestMay: nothing but the controller's own objects is written.
func TestMay(t *testing.T) {
	t.Parallel()
	for request, want := range map[[2]string]bool{
		{"POST", findings}:                                                true,
		{"PUT", findings + "/a/status"}:                                   true,
		{"DELETE", findings + "/a"}:                                       true,
		{"PUT", suppressions + "/a/status"}:                               true,
		{"PUT", suppressions + "/a"}:                                      false,
		{"PUT", policies + "/a/status"}:                                   true,
		{"PUT", policies + "/a"}:                                          false,
		{"POST", policies}:                                                false,
		{"POST", suppressions}:                                            false,
		{"DELETE", suppressions + "/a"}:                                   false,
		{"POST", eventsAt}:                                                true,
		{"GET", findings}:                                                 false, // by the reader
		{"PUT", findings + "/a"}:                                          false,
		{"PATCH", findings + "/a/status"}:                                 false,
		{"DELETE", findings}:                                              false,
		{"DELETE", findings + "/a/b"}:                                     false,
		{"DELETE", findings + "/"}:                                        false,
		{"POST", "/api/v1/namespaces/kube-system/events"}:                 false,
		{"DELETE", eventsAt + "/a"}:                                       false,
		{"POST", "/api/v1/namespaces/default/pods"}:                       false,
		{"PUT", "/apis/crd.projectcalico.org/v1/ipamblocks/a"}:            false,
		{"DELETE", "/apis/crd.projectcalico.org/v1/ipamhandles/a"}:        false,
		{"PUT", "/x/apis/plumbline.dev/v1alpha1/findings/a/status"}:       false,
		{"PUT", "/apis/plumbline.dev/v1alpha1/findings/a/status/more"}:    false,
		{"PUT", "/apis/plumbline.dev/v1alpha1/findings/../pods/a/status"}: false,
	} {
		if got := may(request[0], request[1]); got != want {
			t.Errorf("%s: %t", request, got)
		}
	}
}
