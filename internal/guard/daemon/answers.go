package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/internal/guard"
	"plumbline.dev/plumbline/internal/guard/cniconf"
)

const (
	// answersFor is how long the program is believed to run after it has answered.
	answersFor = 25 * time.Second
	// failuresIn is how often in a row it must fail before the guard is removed: a machine without
	// memory starts nothing for a moment.
	failuresIn = 2
)

// errNoAnswer means that the program did not run, or did not answer as a CNI plugin does.
var errNoAnswer = errors.New("it does not answer CNI's VERSION")

// answers asks the guard's program for its CNI versions, as a runtime would: a program that does not
// run on this node must never stand before Calico's.
func (k *daemon) answers(ctx context.Context, s *stage) error {
	l := &k.install
	if is := trace(s.program.file()); is == l.ran && k.Now().Before(l.ranAt.Add(answersFor)) && !k.Now().Before(l.ranAt) {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, versionPatience)
	defer stop()
	is := trace(s.program.file())
	if err := k.Answers(ctx, s); err != nil {
		l.ran = ""
		return fmt.Errorf("%s cannot be used on this node: %w", s.program.host, err)
	}
	l.ran, l.ranAt, l.failures = is, k.Now(), 0
	return nil
}

// asked runs the program on the host.
func (k *daemon) asked(ctx context.Context, s *stage) error {
	out, words, err := k.onHost(ctx, s, []byte(`{"cniVersion":"1.0.0"}`), []string{"CNI_COMMAND=VERSION", guard.ProbeVariable + "=1"}, s.program.host)
	var said struct {
		Supported []string `json:"supportedVersions"`
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w: %s", errNoAnswer, err, short(words))
	case json.Unmarshal(out, &said) != nil || len(said.Supported) == 0:
		return fmt.Errorf("%w: %s", errNoAnswer, short(string(out)))
	}
	return nil
}

// unusable handles a program that does not answer: it is not inserted, and removed from a file that
// has it.
func (k *daemon) unusable(ctx context.Context, f *cniconf.File, state cniconf.State, why error) error {
	l := &k.install
	if l.failures++; state != cniconf.Patched || l.failures < failuresIn {
		return why
	}
	changed, err := cniconf.Remove(ctx, f)
	if changed {
		k.Log.Warn("the guard's program does not run: guard removed from the CNI configuration", "error", why)
		l.wait = min(max(2*l.wait, retryFirst), retryLast) // a program that runs now and then must not come and go
		l.retry = k.Now().Add(l.wait)
	}
	return errors.Join(why, err)
}
