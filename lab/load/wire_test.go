package load

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestNestedMessagesHaveALengthPrefix(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 126, 127, 128, 16383, 16384, 70000} { // a length takes one byte, two, three
		text := strings.Repeat("x", size)
		var m message
		m.nest(2, func() {
			m.nest(3, func() { m.text(1, text) })
			m.number(20, 300)
		})
		m.text(4, "behind")
		outer, _, value, rest, err := readField(m)
		if err != nil || outer != 2 {
			t.Fatalf("%d: outer field %d, %v", size, outer, err)
		}
		if f, _, v, _, err := readField(rest); f != 4 || string(v) != "behind" || err != nil {
			t.Errorf("%d: the next field %d is %q, %v", size, f, v, err)
		}
		inner, _, v, rest, err := readField(value)
		if err != nil || inner != 3 {
			t.Fatalf("%d: inner field %d, %v", size, inner, err)
		}
		if f, _, v, _, err := readField(v); f != 1 || string(v) != text || err != nil {
			t.Errorf("%d: text is field %d, %d long, %v", size, f, len(v), err)
		}
		if f, n, _, _, err := readField(rest); f != 20 || n != 300 || err != nil {
			t.Errorf("%d: number is field %d, %d, %v", size, f, n, err)
		}
	}
}

func TestMalformedMessagesAreRefused(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{"empty": {}, "no value": {0x08}, "too short": {0x0a, 5, 'x'}, "fixed64": {0x09, 1, 2, 3, 4, 5, 6, 7, 8}} {
		if _, _, _, _, err := readField(b); !errors.Is(err, errWire) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStoredNamespaceHasTheEnvelope compares with a namespace as the lab's API server
// stored it, without the fields that it writes although they are empty.
func TestStoredNamespaceHasTheEnvelope(t *testing.T) {
	t.Parallel()
	p := storedNamespace("team-000", "c66ecaeb-a6d2-4a50-abd5-4ff2d0b6bfb6", noon)
	if p.key != "/registry/namespaces/team-000" || !bytes.HasPrefix(p.value, []byte("k8s\x00\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12")) {
		t.Errorf("%s: %q", p.key, p.value[:40])
	}
	if !bytes.HasSuffix(p.value, []byte("\x12\x0c\x0a\x0akubernetes\x1a\x08\x0a\x06Active")) {
		t.Errorf("end is %q", p.value[len(p.value)-24:])
	}
}
