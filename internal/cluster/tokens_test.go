package cluster

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/kube"
)

func jwt(id string) string {
	return "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"jti":%q}`, id)) + ".c2ln"
}

// A token is replaced in good time, and not before the lease names the new one.
func TestTokenIsReplaced(t *testing.T) {
	t.Parallel()
	n := 0
	s := &tokenSource{request: func(context.Context) (string, time.Time, error) {
		n++
		return jwt(fmt.Sprintf("t%d", n)), time.Time{}, nil
	}}
	used := func() string {
		text, err := s.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return kube.CredentialID(text)
	}
	if used() != "JTI=t1" {
		t.Fatalf("%s", used())
	}
	ids, named := s.Credentials(t.Context())
	named()
	if strings.Join(ids, " ") != "JTI=t1" || used() != "JTI=t1" || n != 1 {
		t.Errorf("young: %v, %s, %d tokens", ids, used(), n)
	}
	s.last.since -= tokenFor/2 + time.Second
	for range 2 { // the second time the lease could not be written at first
		ids, named = s.Credentials(t.Context())
		if strings.Join(ids, " ") != "JTI=t1 JTI=t2" || used() != "JTI=t1" || n != 2 {
			t.Errorf("middle-aged: %v, %s, %d tokens", ids, used(), n)
		}
	}
	named()
	if used() != "JTI=t2" {
		t.Errorf("after the lease names it: %s", used())
	}
	if ids, _ = s.Credentials(t.Context()); strings.Join(ids, " ") != "JTI=t2" || n != 2 {
		t.Errorf("then: %v, %d tokens", ids, n)
	}
	s.last.since -= tokenFor // the machine was suspended
	if used() != "JTI=t3" {
		t.Errorf("an old token is used: %s", used())
	}
	for _, bad := range []string{"", "a.b", "e30.e30.c2ln", "e30.!.c2ln", jwt("two words")} {
		if id := kube.CredentialID(bad); id != "" {
			t.Errorf("%q: %s", bad, id)
		}
	}
}
