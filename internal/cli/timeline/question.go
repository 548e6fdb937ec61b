package timeline

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/cli/term"
	"plumbline.dev/plumbline/internal/cluster"
)

// A question is whose timeline is asked for, and of which time.
type question struct{ cluster.LogQuestion }

func (q question) String() string {
	switch {
	case q.Pod != "":
		return "pod " + q.Pod
	case q.IP.IsValid():
		return "ip " + q.IP.String()
	default:
		return "sandbox " + q.Sandbox
	}
}

// asked reads arguments and flags.
func asked(sess *term.Session, kind, name string, f flags) (question, error) {
	q, err := window(f)
	if err != nil {
		return q, err
	}
	switch kind {
	case "pod", "pods", "po":
		ns, pod := sess.PodNamed(name, f.namespace)
		q.Pod = ns + "/" + pod
	case "ip":
		if q.IP, err = netip.ParseAddr(name); err != nil {
			return q, fmt.Errorf("timeline ip %s: not an address", name)
		}
	case "sandbox":
		if len(name) < 8 || strings.Trim(strings.ToLower(name), "0123456789abcdef") != "" {
			return q, fmt.Errorf("sandbox %q: want at least 8 hexadecimal digits of its ID", name)
		}
		q.Sandbox = strings.ToLower(name)
	default:
		return q, fmt.Errorf("timeline %s: want pod, ip or sandbox", kind)
	}
	return q, nil
}

// window reads the flags: a question about all pods, of the time asked for.
func window(f flags) (q question, err error) {
	now := time.Now() //nolint:forbidigo // --since 2h is before now
	if q.Since, err = term.ParseTime(f.since, now); err != nil {
		return q, fmt.Errorf("--since: %w", err)
	}
	if q.Until, err = term.ParseTime(f.until, now); err != nil {
		return q, fmt.Errorf("--until: %w", err)
	}
	q.Zone, err = parseZone(f.zone)
	return q, err
}

// parseZone reads a zone by its name or as its offset; nil for an empty one.
func parseZone(s string) (*time.Location, error) {
	if s == "" {
		return nil, nil
	}
	if t, err := time.Parse("-07:00", s); err == nil {
		return t.Location(), nil
	}
	z, err := time.LoadLocation(s)
	if err != nil {
		return nil, fmt.Errorf("--tz %s: give a name such as Asia/Shanghai, or an offset such as +08:00", s)
	}
	return z, nil
}
