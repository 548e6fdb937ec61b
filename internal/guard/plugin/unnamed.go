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

// unnamed calls only the IPAM plugin, without the pod's name, so that it can only find
// objects of the container ID.
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

// ipam is the type of the delegate's IPAM plugin, read as the delegate's own decoder does;
// empty if the delegate has none.
func (e *entry) ipam() string {
	var conf struct {
		IPAM struct {
			Type string `json:"type"`
		} `json:"ipam"`
	}
	if json.Unmarshal(object(e.delegate), &conf) != nil {
		return guard.UnknownIPAM
	}
	return conf.IPAM.Type
}

// calico reports whether the delegate is Calico, the only one in the table of guard.Keyed.
func (e *entry) calico() bool { return e.kind == "calico" }

// asking is how long Calico may take to report its version. Without a version the guard
// must assume how Calico finds objects, so on an overloaded node the wait is worth it.
const asking = 10 * time.Second

// goesBy returns how the delegate finds objects. Only Calico is asked for its version;
// others are guard.NotKnown.
func (s *session) goesBy(ctx context.Context) guard.Keying {
	if s.keyed != "" {
		return s.keyed
	}
	version := ""
	if s.entry.calico() {
		ctx, stop := context.WithTimeout(ctx, asking)
		defer stop()
		// The single binary of Calico 3.33 parses -v only if CNI_COMMAND is set; VERSION
		// only reads, whatever else the program makes of it.
		if a := s.delegate.run(ctx, string(guard.Version), nil, "-v"); a.ok() {
			version = strings.TrimSpace(string(a.out))
		} else {
			s.trouble("read the plugin's version", errors.New(wrong(a)))
			if a.trouble != nil && passing(a.trouble) {
				s.absent = a.trouble
			}
		}
	}
	if doubt := guard.Doubt(s.entry.kind, s.entry.ipam(), version); doubt != "" && s.as == guard.Enforce {
		s.event.Doubt = doubt
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

// provenGone reports that an owner's namespace is verified gone: it is not at its path, no
// file pins it, no process is in it, and all namespaces could be read.
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
