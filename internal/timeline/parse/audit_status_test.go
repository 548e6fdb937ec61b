package parse

import (
	"fmt"
	"testing"
)

// A status that a kubelet writes shows the node of the pod; one that others write does not.
func TestAuditStatus(t *testing.T) {
	t.Parallel()
	line := func(user, body string) string {
		return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Request","stage":"ResponseComplete","verb":"patch","user":{"username":%q},"userAgent":"x/1","objectRef":{"resource":"pods","namespace":"shop","name":"db-0","subresource":"status"},"responseStatus":{"code":200},"requestObject":{"metadata":{"uid":%q},"status":{%s}},"stageTimestamp":"2026-11-15T10:31:56.5Z"}`, user, uid, body) + "\n"
	}
	const seen = "audit: pod seen node=n1 pod=shop/db-0 uid=07cbebe7-7fb "
	compare(t, []toldCase{
		{"by its kubelet", line("system:node:n1", `"phase":"Pending"`), []string{seen + "note=patch by system:node:n1 with x/1"}},
		{"with its address", line("system:node:n1", `"podIP":"10.0.0.7"`), []string{seen + "note=patch by system:node:n1 with x/1 address=10.0.0.7"}},
		{"by the taint manager", line("system:serviceaccount:kube-system:node-controller", `"phase":"Pending"`), nil},
	})
}
