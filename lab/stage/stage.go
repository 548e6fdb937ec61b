// Package stage is what the incidents are played on: a cluster, a voice that
// tells each step, and looks at the three books. It asserts; it never repairs.
package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plumbline.dev/plumbline/lab"
)

// A Scenario is one incident: how it comes about, and the symptoms it must show.
type Scenario struct {
	Name  string
	Title string // one line
	Nodes int
	Modes []lab.Datastore
	// Wrecks means that the cluster is of no use to another scenario afterwards.
	Wrecks bool
	Run    func(ctx context.Context, s *Stage) error
}

// Both is the list of modes for a scenario that plays in each.
var Both = []lab.Datastore{lab.KDD, lab.Etcd}

// A Stage is a cluster in which one scenario is played.
type Stage struct {
	*lab.Lab
	Namespace string // the scenario's own
	Tell      func(line string)
}

// Say tells what is being done or was seen.
func (s *Stage) Say(format string, args ...any) { s.Tell(fmt.Sprintf(format, args...)) }

// ErrSymptom means that the incident did not show what it must show.
var ErrSymptom = errors.New("symptom not seen")

// Expect is an error unless ok; the text says what must be true.
func Expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: want %s", ErrSymptom, fmt.Sprintf(format, args...))
}

// Play runs the scenario in a namespace of its own on the lab.
func Play(ctx context.Context, l *lab.Lab, sc Scenario, tell func(string)) error {
	s := &Stage{Lab: l, Namespace: sc.Name, Tell: tell}
	err := s.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", s.Namespace))
	if err != nil {
		return err
	}
	// Pods are refused until the controllers have made the namespace's account.
	err = lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		var account struct{}
		return s.Get(ctx, "/api/v1/namespaces/"+s.Namespace+"/serviceaccounts/default", &account)
	})
	if err != nil {
		return err
	}
	return sc.Run(ctx, s)
}

// Steps runs one after the other and stops at the first that fails.
func Steps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}
