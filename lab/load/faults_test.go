package load

import (
	"errors"
	"strings"
	"testing"
)

func TestParseFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "leaked=20": "leaked=20", "finished=1,leaked=2,leaked=3": "leaked=5,finished=1", "bad-index=0": "",
	} {
		if f, err := ParseFaults(text); err != nil || f.String() != want {
			t.Errorf("%q gives %q, %v", text, f, err)
		}
	}
	for _, text := range []string{"leaked", "leaked=", "leaked=-1", "leaked=x", "nope=1", ",", "leaked=1,"} {
		if f, err := ParseFaults(text); !errors.Is(err, ErrFault) {
			t.Errorf("%q gives %q, %v", text, f, err)
		}
	}
}

func TestWriteFaults(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	err := WriteFaults(&b, []Fault{{Kind: Leaked, Subject: "10.128.0.7", Pod: "team-000/web", Node: "worker-00000"}, {Kind: BadIndex, Subject: "10.128.0.64/26"}})
	want := `{"fault":"leaked","subject":"10.128.0.7","pod":"team-000/web","node":"worker-00000"}
{"fault":"bad-index","subject":"10.128.0.64/26"}
`
	if err != nil || b.String() != want {
		t.Errorf("%v: %s", err, b.String())
	}
}
