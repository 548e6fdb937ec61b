package agent_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/agent"
	"plumbline.dev/plumbline/internal/model"
)

// bearing is a fleet of one whose answers a test writes.
func bearing(t *testing.T, bear func(n int, q url.Values, w *model.Verification)) *agent.Fleet {
	t.Helper()
	asked := 0
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &agent.Fleet{Identities: published{"n1": public}, Open: func(_ context.Context, node, path string, q url.Values) (io.ReadCloser, error) {
		nonce := q.Get("nonce")
		q.Del("nonce")
		if path != agent.PathVerify || len(q["ip"]) > agent.MaxAsked || len(q["container"]) > agent.MaxAsked {
			t.Errorf("asked %s %v", path, q)
		}
		w := model.Verification{Node: node, IPs: q["ip"], Containers: q["container"], All: q.Has("all"), Complete: true, BootID: "b", Taken: model.Time(100 + asked)}
		bear(asked, q, &w)
		asked++
		s, err := agent.SignVerification(key, nonce, &w)
		if err != nil {
			return nil, err
		}
		b, err := json.Marshal(s)
		return io.NopCloser(bytes.NewReader(b)), err
	}}
}

// published are keys by node.
type published map[string]ed25519.PublicKey

func (p published) Identity(_ context.Context, node string, _ bool) (agent.Identity, error) {
	key, ok := p[node]
	if !ok {
		return agent.Identity{}, errors.New("no key")
	}
	return agent.Identity{Node: node, Key: key}, nil
}

func questions(n int) (ips []netip.Addr, ids []string) {
	ip := netip.MustParseAddr("10.0.0.1")
	for i := range n {
		ips, ids = append(ips, ip), append(ids, fmt.Sprintf("%064x", i))
		ip = ip.Next()
	}
	return ips, ids
}

// Many are asked in several questions; what they come to is one answer.
func TestAskInParts(t *testing.T) {
	t.Parallel()
	ips, ids := questions(150)
	f := bearing(t, func(n int, q url.Values, w *model.Verification) {
		w.Calls = []model.Process{{PID: 1, CNI: "every"}, {PID: 10 + n, CNI: "own"}}
		w.Sandboxes = []model.Sandbox{{ID: "every"}, {ID: q["container"][0]}}
	})
	w, err := f.Ask(t.Context(), "n1", ips, ids)
	if err != nil || !w.Complete || len(w.IPs) != 150 || !slices.Equal(w.Containers, ids) || len(w.Calls) != 4 || len(w.Sandboxes) != 4 {
		t.Errorf("%+v, %v", w, err)
	}
	if w.Taken != 100 {
		t.Errorf("taken %d: a verification is as old as its first answer", w.Taken)
	}
}

// It is no more complete than the worst of its parts.
func TestAskIncomplete(t *testing.T) {
	t.Parallel()
	ips, _ := questions(129)
	for name, spoil := range map[string]func(w *model.Verification){
		"not all was seen": func(w *model.Verification) { w.Complete, w.Missing = false, []string{"links: cut"} },
		"another boot":     func(w *model.Verification) { w.BootID = "c" },
		"another network":  func(w *model.Verification) { w.Network = "x" },
	} {
		for at := range 3 {
			f := bearing(t, func(n int, _ url.Values, w *model.Verification) {
				if n == at {
					spoil(w)
				}
			})
			if w, err := f.Ask(t.Context(), "n1", ips, nil); err != nil || w.Complete || len(w.Missing) == 0 || w.Quiet() {
				t.Errorf("%s in part %d: %+v, %v", name, at, w, err)
			}
		}
	}
}

func TestAskNothingIsARollCall(t *testing.T) {
	t.Parallel()
	f := bearing(t, func(_ int, q url.Values, _ *model.Verification) {
		if q.Encode() != "all=1" {
			t.Errorf("asked %s", q.Encode())
		}
	})
	if w, err := f.Ask(t.Context(), "n1", nil, nil); err != nil || !w.All {
		t.Errorf("%+v, %v", w, err)
	}
}

// An answer to another question, or of another node, proves nothing.
func TestAskHearsNoOtherAnswer(t *testing.T) {
	t.Parallel()
	ips, ids := questions(3)
	for name, spoil := range map[string]func(w *model.Verification){
		"another node":     func(w *model.Verification) { w.Node = "n2" },
		"one address only": func(w *model.Verification) { w.IPs = w.IPs[:1] },
		"no address":       func(w *model.Verification) { w.IPs = nil },
		"another address":  func(w *model.Verification) { w.IPs = []string{"10.0.0.1", "10.0.0.2", "10.0.0.9"} },
		"another container": func(w *model.Verification) {
			w.Containers = slices.Concat(w.Containers[:2], []string{strings.Repeat("f", 64)})
		},
		"a container too many": func(w *model.Verification) { w.Containers = append(slices.Clone(w.Containers), "x") },
		"a roll call":          func(w *model.Verification) { w.All = true },
	} {
		f := bearing(t, func(_ int, _ url.Values, w *model.Verification) { spoil(w) })
		if w, err := f.Ask(t.Context(), "n1", ips, ids); err == nil || w.Complete {
			t.Errorf("%s: %+v", name, w)
		}
	}
}
