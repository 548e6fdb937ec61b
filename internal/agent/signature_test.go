package agent_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"io"
	"net/url"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// restarted has another key when it is read again.
type restarted struct {
	before, after ed25519.PublicKey
	reads         int
}

func (r *restarted) Identity(_ context.Context, node string, fresh bool) (agent.Identity, error) {
	if fresh {
		r.reads++
		return agent.Identity{Node: node, Key: r.after}, nil
	}
	return agent.Identity{Node: node, Key: r.before}, nil
}

// Only what the agent of that node signed for this request is a verification: not what somebody
// in between says, nor an old answer, nor that of an agent that has no key.
func TestVerificationIsSigned(t *testing.T) {
	t.Parallel()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	forged, wrong, _ := ed25519.GenerateKey(nil)
	quiet := func(q url.Values) *model.Verification {
		return &model.Verification{Node: "n1", IPs: q["ip"], Complete: true, BootID: "b"}
	}
	sign := func(key ed25519.PrivateKey, nonce string, w *model.Verification) []byte {
		s, err := agent.SignVerification(key, nonce, w)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := json.Marshal(s)
		return b
	}
	var old []byte
	for _, c := range []struct {
		name   string
		keys   agent.Identities
		answer func(q url.Values) []byte
		why    string
	}{
		{"signed", published{"n1": public}, func(q url.Values) []byte {
			old = sign(key, q.Get("nonce"), quiet(q))
			return old
		}, ""},
		{"sent again", published{"n1": public}, func(url.Values) []byte { return old }, "belongs to another request"},
		{"without a nonce", published{"n1": public}, func(q url.Values) []byte { return sign(key, "", quiet(q)) }, "belongs to another request"},
		{"forged", published{"n1": public}, func(q url.Values) []byte { return sign(wrong, q.Get("nonce"), quiet(q)) }, "not signed"},
		{"unsigned, as before", published{"n1": public}, func(q url.Values) []byte { b, _ := json.Marshal(quiet(q)); return b }, "not signed"},
		{"changed on the way", published{"n1": public}, func(q url.Values) []byte {
			w := quiet(q)
			w.Complete = false
			return bytes.Replace(sign(key, q.Get("nonce"), w), []byte(`"complete":false`), []byte(`"complete":true`), 1)
		}, "not signed"},
		{"no key is published", published{}, func(q url.Values) []byte { return sign(key, q.Get("nonce"), quiet(q)) }, "no key"},
		{"an empty key", published{"n1": nil}, func(q url.Values) []byte { return sign(key, q.Get("nonce"), quiet(q)) }, "not signed"},
		{"no keys are read", nil, func(q url.Values) []byte { return sign(key, q.Get("nonce"), quiet(q)) }, "are not read"},
		{"a restarted agent", &restarted{before: forged, after: public}, func(q url.Values) []byte { return sign(key, q.Get("nonce"), quiet(q)) }, ""},
		{"of another node", published{"n1": public}, func(q url.Values) []byte {
			w := quiet(q)
			w.Node = "n2"
			return sign(key, q.Get("nonce"), w)
		}, "the agent on n2 answered"},
	} {
		f := &agent.Fleet{Identities: c.keys, Open: func(_ context.Context, _, _ string, q url.Values) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(c.answer(q))), nil
		}}
		w, err := f.Verification(t.Context(), "n1", url.Values{"ip": {"10.0.0.1"}})
		switch {
		case c.why == "" && (err != nil || !w.Quiet()):
			t.Errorf("%s: %+v, %v", c.name, w, err)
		case c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why) || w.Complete):
			t.Errorf("%s: %+v, %v", c.name, w, err)
		}
	}
}

func TestIdentityInALease(t *testing.T) {
	t.Parallel()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	id := agent.Identity{Node: "n1", Key: public, BootID: "b", Names: []string{"n1", "old-n1"}}
	got, err := agent.ReadIdentity("agent-n1", id.Annotations())
	if err != nil || got.Node != "n1" || !got.Key.Equal(public) || got.BootID != "b" || strings.Join(got.Names, " ") != "n1 old-n1" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, lease := range []string{"plumbline-apply", "agent-", ""} {
		if _, err := agent.ReadIdentity(lease, id.Annotations()); err == nil {
			t.Errorf("%q is read as an agent's", lease)
		}
	}
	for _, key := range []string{"", "AAAA", "no base64!"} {
		bad := id.Annotations()
		bad["plumbline.dev/agent-key"] = key
		if got, err := agent.ReadIdentity("agent-n1", bad); err == nil {
			t.Errorf("key %q: %+v", key, got)
		}
	}
}
