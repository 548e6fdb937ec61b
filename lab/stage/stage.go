// Package stage is what the incidents are played on: a cluster, a voice that
// tells each step, and looks at the three books. It asserts; it never repairs.
package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	Namespace string        // the scenario's own
	For       time.Duration // how long, for scenarios that go on for a while
	Brief     bool          // leave out what only takes long
	Tell      func(line string)

	agents  bool
	checker Checker
	undo    []func(context.Context) error
}

// Cleanup has f run when the incident is over and the cluster is to serve another
// one. It takes away what was put in, so that Kubernetes and Calico can tidy up.
func (s *Stage) Cleanup(f func(context.Context) error) { s.undo = append(s.undo, f) }

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

// Options say how a scenario is played.
type Options struct {
	Keep bool          // leave the broken cluster as it is
	For  time.Duration // see Stage.For; 0 means the scenario's own default
	// Brief leaves out what only takes long.
	Brief bool
	Tell  func(line string)
	Check Checker // is shown the incident's moments
	// Agents tells that the nodes have agents: more can be seen.
	Agents bool
}

// Play runs the scenario in a namespace of its own on the lab.
func Play(ctx context.Context, l *lab.Lab, sc Scenario, o Options) error {
	s := &Stage{Lab: l, Namespace: sc.Name, Tell: o.Tell, For: o.For, Brief: o.Brief, checker: o.Check, agents: o.Agents}
	if err := s.createNamespace(ctx); err != nil {
		return err
	}
	err := sc.Run(ctx, s)
	if errors.Is(err, ErrRepaired) {
		err = nil
	}
	if o.Keep || sc.Wrecks {
		return err
	}
	for _, f := range slices.Backward(s.undo) {
		err = errors.Join(err, f(context.WithoutCancel(ctx)))
	}
	if err != nil {
		return err
	}
	_, err = s.Kubectl(ctx, "delete", "namespace", s.Namespace, "--timeout=90s")
	return err
}

func (s *Stage) createNamespace(ctx context.Context) error {
	err := s.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", s.Namespace))
	if err != nil {
		return err
	}
	// Pods are refused until the controllers have made the namespace's account.
	return lab.Eventually(ctx, 30*time.Second, func(ctx context.Context) error {
		var account struct{}
		return s.Get(ctx, "/api/v1/namespaces/"+s.Namespace+"/serviceaccounts/default", &account)
	})
}
