//go:build e2e

package server_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/lab"
)

// strangers: whoever has no token, or one that does not say what it must, learns nothing.
// The real API server judges every one of them.
func strangers(t *testing.T, l *lab.Lab) {
	ctx := t.Context()
	if _, err := l.Kubectl(ctx, "-n", "plumbline-system", "create", "serviceaccount", "stranger"); err != nil {
		t.Fatal(err)
	}
	a := askAs(t, l, "plumbline-reader")
	audience := a.caller.Audience()
	reader := token(t, l, "plumbline-system", "plumbline-reader", audience)
	repairer := token(t, l, "plumbline-system", "plumbline-repairer", audience)
	everybody := token(t, l, "plumbline-system", "plumbline-repairer", agent.Audience)
	another := token(t, l, "plumbline-system", "plumbline-reader", agent.NewCaller().Audience())
	for name, c := range map[string]struct {
		method, path, token string
		want                int
	}{
		"health says only that it lives": {http.MethodGet, agent.PathHealth, "", 200},
		"no token":                       {http.MethodGet, agent.PathTables, "", 401},
		"no token, no such path":         {http.MethodGet, "debug/pprof", "", 401},
		"nonsense":                       {http.MethodGet, agent.PathTables, "abc.def.ghi", 403},
		"a token for the API server":     {http.MethodGet, agent.PathTables, token(t, l, "plumbline-system", "plumbline-repairer", ""), 403},
		"a token for somebody else":      {http.MethodGet, agent.PathTables, token(t, l, "plumbline-system", "plumbline-repairer", "vault"), 403},
		"without the right":              {http.MethodGet, agent.PathTables, token(t, l, "plumbline-system", "stranger", audience), 403},
		"a pod's own account":            {http.MethodGet, agent.PathVerify, token(t, l, "default", "default", audience), 403},
		"expired":                        {http.MethodGet, agent.PathTables, until(t, reader, time.Now().Add(-time.Minute)), 403},
		"not expired":                    {http.MethodGet, agent.PathDigest, until(t, reader, time.Now().Add(time.Minute)), 200},
		"signed by somebody else":        {http.MethodGet, agent.PathTables, reader[:len(reader)-6] + "AAAAAA", 403},
		"a reader":                       {http.MethodGet, agent.PathDigest, reader, 200},
		"a repairer reads":               {http.MethodGet, agent.PathDigest, repairer, 200},
		"a token of another caller":      {http.MethodGet, agent.PathDigest, another, 403},
		"a token for every caller":       {http.MethodGet, agent.PathDigest, everybody, 403},
		"it does not change either":      {http.MethodPost, agent.PathChange, everybody, 403},
		"a reader changes":               {http.MethodPost, "v1/step", reader, 403},
		"a reader changes a node":        {http.MethodPost, agent.PathChange, reader, 403},
		"nobody changes a node":          {http.MethodPost, agent.PathChange, "", 401},
		"a repairer says no change":      {http.MethodPost, agent.PathChange, repairer, 400},
		"nobody changes":                 {http.MethodPost, "v1/step", "", 401},
		"a repairer finds no such step":  {http.MethodPost, "v1/step", repairer, 404},
	} {
		if got, said := a.status(ctx, c.method, c.path, c.token); got != c.want || strings.Contains(said, "10.244.") {
			t.Errorf("%s: %d, want %d: %s", name, got, c.want, said)
		}
	}
	// What an agent was sent is of no use at another: the request is signed for one node.
	for name, head := range map[string]http.Header{
		"signed for another node": a.caller.Headers(reader, "node2", http.MethodGet, agent.PathDigest, nil, nil),
		"signed by another":       agent.NewCaller().Headers(reader, "node1", http.MethodGet, agent.PathDigest, nil, nil),
		"for another path":        a.caller.Headers(reader, "node1", http.MethodGet, agent.PathTables, nil, nil),
		"unsigned":                {agent.Header: {reader}},
	} {
		if got, said := a.sent(ctx, http.MethodGet, agent.PathDigest, head); got != 403 {
			t.Errorf("%s: %d %s", name, got, said)
		}
	}
	logRights(t, l, a)
	away(t, l, a, reader)
	withdrawn(t, l, a)
}

// logRights: lines of logs need a right of their own, in the namespace of the pod that they are about.
func logRights(t *testing.T, l *lab.Lab, a *asker) {
	ctx := t.Context()
	for _, args := range [][]string{
		{"-n", "default", "create", "serviceaccount", "tenant"},
		{"-n", "default", "create", "rolebinding", "tenant", "--clusterrole=plumbline-nodelog-reader", "--serviceaccount=default:tenant"},
	} {
		if _, err := l.Kubectl(ctx, args...); err != nil {
			t.Fatal(err)
		}
	}
	all := token(t, l, "plumbline-system", "plumbline-log-reader", a.caller.Audience())
	tenant := token(t, l, "default", "tenant", a.caller.Audience())
	for name, c := range map[string]struct {
		token, path string
		query       url.Values
		want        int
	}{
		"of node state":               {token(t, l, "plumbline-system", "plumbline-reader", a.caller.Audience()), agent.PathLogs, url.Values{"pod": {"default/x"}}, 403},
		"all logs":                    {all, agent.PathLogs, url.Values{"address": {"10.244.0.9"}}, 200},
		"logs are not node state":     {all, agent.PathDigest, nil, 403},
		"own namespace":               {tenant, agent.PathLogs, url.Values{"pod": {"default/x"}}, 200},
		"another namespace":           {tenant, agent.PathLogs, url.Values{"pod": {"kube-system/x"}}, 403},
		"two namespaces":              {tenant, agent.PathLogs, url.Values{"pod": {"kube-system/x", "default/x"}}, 403},
		"an address may be anybody's": {tenant, agent.PathLogs, url.Values{"pod": {"default/x"}, "address": {"10.244.0.9"}}, 403},
		"so may a container":          {tenant, agent.PathLogs, url.Values{"pod": {"default/x"}, "sandbox": {"0123456789ab"}}, 403},
		"and a UID":                   {tenant, agent.PathLogs, url.Values{"pod": {"default/x"}, "uid": {"01234567-0123-0123-0123-0123456789ab"}}, 403},
		"tenants read no node state":  {tenant, agent.PathTables, nil, 403},
	} {
		resp, err := a.do(ctx, http.MethodGet, c.path, c.query.Encode(), a.caller.Headers(c.token, "node1", http.MethodGet, c.path, c.query, nil))
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != c.want {
			t.Errorf("%s: %d, want %d", name, resp.StatusCode, c.want)
		}
	}
	if _, err := l.Kubectl(ctx, "-n", "plumbline-system", "create", "token", "plumbline-reader", "--audience=https://kubernetes.default.svc"); err == nil {
		t.Error("a token of a reader for the API server")
	}
}

// away: a token that was not seen before is refused while the API server cannot be asked;
// one that was is believed for a minute.
func away(t *testing.T, l *lab.Lab, a *asker, known string) {
	ctx, fresh := t.Context(), token(t, l, "plumbline-system", "plumbline-reader", a.caller.Audience())
	if err := l.FreezeAPIServer(ctx); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.ThawAPIServer(context.WithoutCancel(ctx)); err != nil {
			t.Fatal(err)
		}
	}()
	if got, _ := a.status(ctx, http.MethodGet, agent.PathDigest, known); got != 200 {
		t.Errorf("a token that was just accepted: %d", got)
	}
	if got, _ := a.status(ctx, http.MethodGet, agent.PathDigest, fresh); got != 503 {
		t.Errorf("a token that nobody can judge: %d", got)
	}
}

// withdrawn: a right that is taken away ends within a minute.
func withdrawn(t *testing.T, l *lab.Lab, a *asker) {
	ctx := t.Context()
	for _, args := range [][]string{
		{"-n", "plumbline-system", "create", "serviceaccount", "passing"},
		{"create", "clusterrolebinding", "passing", "--clusterrole=plumbline-nodestate-reader", "--serviceaccount=plumbline-system:passing"},
	} {
		if _, err := l.Kubectl(ctx, args...); err != nil {
			t.Fatal(err)
		}
	}
	tok := token(t, l, "plumbline-system", "passing", a.caller.Audience())
	if got, said := a.status(ctx, http.MethodGet, agent.PathDigest, tok); got != 200 {
		t.Fatalf("with the right: %d %s", got, said)
	}
	if _, err := l.Kubectl(ctx, "delete", "clusterrolebinding", "passing"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err := lab.Eventually(ctx, 75*time.Second, func(ctx context.Context) error {
		if got, _ := a.status(ctx, http.MethodGet, agent.PathDigest, tok); got != 403 {
			return errStill
		}
		return nil
	})
	t.Logf("a right that was taken away ended after %s", time.Since(began).Round(time.Second))
	if err != nil {
		t.Error(err)
	}
}

var errStill = errors.New("still let in")

// until gives the same token with another end, signed with the cluster's own key.
func until(t *testing.T, token string, end time.Time) string {
	t.Helper()
	parts := strings.Split(token, ".")
	b, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(b, &claims); err != nil {
		t.Fatal(err)
	}
	claims["iat"], claims["nbf"], claims["exp"] = end.Add(-time.Hour).Unix(), end.Add(-time.Hour).Unix(), end.Unix()
	if b, err = json.Marshal(claims); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("/run/plumbline-lab/pki/sa.key")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		t.Fatalf("%T, %v", parsed, err)
	}
	body := parts[0] + "." + base64.RawURLEncoding.EncodeToString(b)
	sum := sha256.Sum256([]byte(body))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return body + "." + base64.RawURLEncoding.EncodeToString(sig)
}
