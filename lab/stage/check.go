package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"plumbline.dev/plumbline/lab"
)

// A Checker is called at the moments of an incident, with the names of the findings
// (CODE/SUBJECT) that must be reported then, and no others. The prefix + marks a finding
// that needs agents on the nodes, - one that agents fold under another finding.
type Checker func(ctx context.Context, s *Stage, moment string, want []string) error

// Check calls the checker, if there is one.
func (s *Stage) Check(ctx context.Context, moment string, want ...string) error {
	if s.checker == nil {
		return nil
	}
	want = s.visible(want)
	if err := s.checker(ctx, s, moment, want); err != nil {
		return fmt.Errorf("%s: %w", moment, err)
	}
	s.Say("%s: check reports %s", moment, strings.Join(append(want[:len(want):len(want)], "nothing else"), ", "))
	return nil
}

// visible returns the wanted findings that can be reported here, with or without agents.
func (s *Stage) visible(want []string) []string {
	var out []string
	for _, w := range want {
		switch {
		case w[0] == '+' && s.agents:
			out = append(out, w[1:])
		case w[0] == '-' && !s.agents:
			out = append(out, w[1:])
		case w[0] != '+' && w[0] != '-':
			out = append(out, w)
		}
	}
	return out
}

// A Report has the fields of check -o json that tests use.
type Report struct {
	Findings, Unconfirmed []struct {
		Name, Summary, Why string
		Explains           []string
		Evidence           json.RawMessage
	}
	NotJudged  []struct{ Code, Why string }
	NotChecked []struct{ Table, Reason string }
	Predating  struct{ Findings, Of int }
	Exit       int `json:"-"`
}

// Names returns the names of the confirmed findings, in order.
func (r Report) Names() []string {
	out := make([]string, 0, len(r.Findings))
	for _, f := range r.Findings {
		out = append(out, f.Name)
	}
	slices.Sort(out)
	return out
}

// CheckWith runs plumbline check on the lab, with access to Kubernetes and the Calico
// datastore. State is the directory in which it keeps unconfirmed findings.
func CheckWith(ctx context.Context, l *lab.Lab, bin, state string, args ...string) (Report, error) {
	out, code, err := Plumbline(ctx, l, bin, state, append([]string{"check", "-o", "json"}, args...)...)
	r := Report{Exit: code}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		return r, fmt.Errorf("check ended with exit code %d and %d bytes: %w", code, len(out), err)
	}
	return r, nil
}

// Command returns a plumbline command for the lab, with access to Kubernetes and the
// Calico datastore. State is the directory in which it keeps its state.
func Command(ctx context.Context, l *lab.Lab, bin, state string, args ...string) *exec.Cmd {
	if l.Datastore == lab.Etcd {
		user := "read-only"
		if args[0] == "apply" || args[0] == "undo" {
			user = "calico" // writes need Calico's own permissions
		}
		ca, crt, key := l.EtcdCerts(user)
		args = append(args[:len(args):len(args)], "--etcd-endpoints="+l.EtcdEndpoint(), "--etcd-cacert="+ca, "--etcd-cert="+crt, "--etcd-key="+key)
	}
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Env = append(append(os.Environ(), l.Env()...), "XDG_STATE_HOME="+state)
	return cmd
}

// Plumbline runs any command and returns what it printed and its exit code; an error
// only if it could not run at all.
func Plumbline(ctx context.Context, l *lab.Lab, bin, state string, args ...string) (string, int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	cmd := Command(ctx, l, bin, state, args...)
	var diag strings.Builder
	cmd.Stderr = &diag
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 2 {
		return string(out), exit.ExitCode(), nil
	}
	if err != nil {
		return string(out), 2, fmt.Errorf("plumbline %s: %w: %s", strings.Join(args, " "), err, diag.String())
	}
	return string(out), 0, nil
}

// NewChecker returns a Checker that runs plumbline, which must confirm the expected
// findings once they have persisted for settle.
func NewChecker(bin, state string, settle time.Duration) Checker {
	return func(ctx context.Context, s *Stage, _ string, want []string) error {
		var r Report
		var last error // a check that is cut off at the end proves nothing
		// The last write of an incident may just have happened: two checks at most.
		err := lab.Eventually(ctx, s.Scale(90*time.Second), func(ctx context.Context) (err error) {
			seen, err := CheckWith(ctx, s.Lab, bin, state, "--wait", "--settle="+settle.String())
			if err != nil && last != nil {
				return last
			}
			if err != nil {
				return err
			}
			r = seen
			last = Expect(slices.Equal(r.Names(), slices.Sorted(slices.Values(want))), "findings %q, got %q; unconfirmed %v; not checked %v", want, r.Names(), r.Unconfirmed, r.NotChecked)
			return last
		})
		if err != nil {
			return err
		}
		s.Checked = r
		return Expect((r.Exit == 1) == (len(want) > 0), "an exit code for these findings, got %d", r.Exit)
	}
}

// Held lists the allocated addresses whose attribute fits.
func (s *Stage) Held(ctx context.Context, fits func(Attribute) bool) ([]string, error) {
	blocks, err := s.Blocks(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range blocks {
		p, err := netip.ParsePrefix(b.CIDR)
		if err != nil {
			return nil, err
		}
		ip := p.Addr()
		for _, i := range b.Allocations {
			if i != nil && *i < len(b.Attributes) && fits(b.Attributes[*i]) {
				out = append(out, ip.String())
			}
			ip = ip.Next()
		}
	}
	return out, nil
}
