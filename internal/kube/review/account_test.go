package review

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAccount(t *testing.T) {
	for claims, want := range map[string]string{
		`{"kubernetes.io":{"serviceaccount":{"name":"plumbline-agent","uid":"1-2"}}}`: "1-2",
		`{"aud":["x"]}`: "",
		`not JSON`:      "",
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte("h."+b64([]byte(claims))+".s\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := (&Reviewer{token: file}).Account(); got != want {
			t.Errorf("%s: got %q, want %q", claims, got, want)
		}
	}
	if got := (&Reviewer{}).Account(); got != "" {
		t.Errorf("without a token: got %q", got)
	}
}
