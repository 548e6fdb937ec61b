//go:build e2e

package gate

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"plumbline.dev/plumbline/lab"
)

// request is what the API server's audit log says of one.
type request struct {
	Verb string
	User struct{ Username string }
}

// requestsOf reads the API server's audit log. The server may be writing its last line.
func requestsOf(t *testing.T, l *lab.Lab) []request {
	t.Helper()
	b, err := os.ReadFile(l.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	return decodeRequests(t, b)
}

func decodeRequests(t *testing.T, b []byte) []request {
	t.Helper()
	var out []request
	for line := range bytes.Lines(b) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("audit log: %v", err)
		}
		out = append(out, r)
	}
	return out
}

func TestRequestsOfAnUnfinishedLog(t *testing.T) {
	got := decodeRequests(t, []byte(`{"verb":"get","user":{"username":"a"}}`+"\n"+`{"verb":"li`))
	if len(got) != 1 || got[0].Verb != "get" || got[0].User.Username != "a" {
		t.Errorf("got %v", got)
	}
}
