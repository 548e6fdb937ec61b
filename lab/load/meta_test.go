package load

import (
	"bytes"
	"testing"
)

// TestStoredNamespaceHasTheEnvelope compares with a namespace as the lab's API server
// stored it.
func TestStoredNamespaceHasTheEnvelope(t *testing.T) {
	t.Parallel()
	p, err := storedNamespace("team-000", "c66ecaeb-a6d2-4a50-abd5-4ff2d0b6bfb6", noon)
	if err != nil || p.key != "/registry/namespaces/team-000" || !bytes.HasPrefix(p.value, []byte("k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12")) {
		t.Fatalf("%s: %q, %v", p.key, p.value, err)
	}
	if !bytes.HasSuffix(p.value, []byte("\x12\x0c\x0a\x0akubernetes\x1a\x08\x0a\x06Active\x1a\x00\x22\x00")) {
		t.Errorf("end is %q", p.value[len(p.value)-28:])
	}
}
