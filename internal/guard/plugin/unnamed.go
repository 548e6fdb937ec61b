package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/kernel/podns"
)

// unnamed calls the IPAM plugin alone, and does not tell it the pod: so it can only find
// what is the container's.
func (s *session) unnamed(ctx context.Context) *answer {
	ipam := s.delegate
	ipam.kind = s.entry.ipam()
	if err := properType(ipam.kind); err != nil {
		return &answer{trouble: err}
	}
	args := slices.DeleteFunc(strings.Split(lookup(ipam.env, "CNI_ARGS"), ";"), func(arg string) bool { return strings.HasPrefix(arg, "K8S_POD_") })
	ipam.env = with(ipam.env, "CNI_ARGS", strings.Join(args, ";"))
	return ipam.run(ctx, string(guard.Del), s.entry.configuration())
}

// ipam is the type of the delegate's IPAM plugin.
func (e *entry) ipam() string {
	var ipam struct {
		Type string `json:"type"`
	}
	for _, f := range e.delegate {
		if f.name == "ipam" {
			_ = json.Unmarshal(f.value, &ipam)
		}
	}
	return ipam.Type
}

// calico tells whether the delegate is one of which anything is known.
func (e *entry) calico() bool { return e.kind == "calico" }

// asking is how long Calico may take to tell its version. Not to know it means that a late
// DEL is handed on: on a node that can hardly breathe that is worth a wait.
const asking = 10 * time.Second

// goesBy tells by what the delegate finds things. Only Calico is asked for its version; of
// others nothing is known.
func (s *session) goesBy(ctx context.Context) guard.Keying {
	if s.keyed != "" {
		return s.keyed
	}
	version := ""
	if s.entry.calico() {
		ctx, stop := context.WithTimeout(ctx, asking)
		defer stop()
		a := s.delegate.run(ctx, "", nil, "-v")
		if !a.ok() {
			s.trouble("ask for the version", errors.New(wrong(a)))
		}
		version = strings.TrimSpace(string(a.out))
	}
	s.keyed = guard.Keyed(s.entry.kind, s.entry.ipam(), version)
	return s.keyed
}

// delegateError reads a CNI error.
func delegateError(a *answer) guard.DelegateError {
	var e struct {
		Code    uint   `json:"code"`
		Msg     string `json:"msg"`
		Details string `json:"details"`
	}
	if json.Unmarshal(a.out, &e) != nil {
		return guard.DelegateError{Msg: "unknown"}
	}
	return guard.DelegateError{Code: e.Code, Msg: e.Msg, Details: e.Details}
}

// provenGone tells that an owner's namespace ended: it is not where it was, no file pins
// it, no process lives in it, and all were seen.
func provenGone(ctx context.Context, proc string, o *guard.Owner) bool {
	if o.Inode == 0 {
		return false
	}
	if f, err := namespaceOf(o); !errors.Is(err, errNoNamespace) {
		if err == nil {
			_ = f.Close()
		}
		return false
	}
	ctx, stop := context.WithTimeout(ctx, looking)
	defer stop()
	all, err := podns.Namespaces(ctx, proc, "/")
	return err == nil && !slices.ContainsFunc(all, func(n podns.Namespace) bool { return n.Inode == o.Inode })
}
