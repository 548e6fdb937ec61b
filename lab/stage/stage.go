// Package stage runs the incidents: it provides a cluster, prints each step, and reads
// Kubernetes, the Calico datastore and the nodes. It asserts; it never repairs.
package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plumbline.dev/plumbline/lab"
)

// A Scenario is one incident: how it is produced, and the symptoms it must show.
type Scenario struct {
	Name  string
	Title string // one line
	Nodes int
	Modes []lab.Datastore
	// Wrecks means that the cluster cannot be used for another scenario afterwards.
	Wrecks bool
	// ByCause means that there is nothing to repair: it ends with its cause.
	ByCause bool
	// Left are the findings that no repair resolves.
	Left []string
	Run  func(ctx context.Context, s *Stage) error
}

// Both lists both modes, for scenarios that run in each.
var Both = []lab.Datastore{lab.KDD, lab.Etcd}

// A Stage is a cluster in which one scenario runs.
type Stage struct {
	*lab.Lab
	Namespace string        // the scenario's own
	For       time.Duration // duration of scenarios that run for a while
	Brief     bool          // omit long steps
	On        int           // number of the node that a scenario of one node breaks
	Tell      func(line string)

	agents bool

	Checked Report // the last one that a checker accepted
	checker Checker
	undo    []func(context.Context) error
}

// Cleanup registers f to run after the incident, before the cluster is used for another
// one. f removes what the scenario added, so that Kubernetes and Calico can clean up.
func (s *Stage) Cleanup(f func(context.Context) error) { s.undo = append(s.undo, f) }

// Say prints the current step or an observation.
func (s *Stage) Say(format string, args ...any) { s.Tell(fmt.Sprintf(format, args...)) }

// ErrSymptom means that the incident did not show an expected symptom.
var ErrSymptom = errors.New("symptom missing")

// Expect returns an error unless ok; the text states what must be true.
func Expect(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%w: want %s", ErrSymptom, fmt.Sprintf(format, args...))
}

// Options of a run.
type Options struct {
	Keep bool          // keep the broken cluster as it is
	For  time.Duration // see Stage.For; 0 means the scenario's own default
	// Brief omits long steps.
	Brief bool
	// On is the number of the node that a scenario of one node breaks; 0 means the first.
	On    int
	Tell  func(line string)
	Check Checker // called at the incident's moments
	// Agents means that the nodes have agents: more findings are possible.
	Agents bool
}

// Play runs the scenario in its own namespace on the lab.
func Play(ctx context.Context, l *lab.Lab, sc Scenario, o Options) error {
	s := &Stage{Lab: l, Namespace: sc.Name, Tell: o.Tell, For: o.For, Brief: o.Brief, On: max(1, o.On), checker: o.Check, agents: o.Agents}
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
	_, err = s.Kubectl(ctx, "delete", "namespace", s.Namespace, "--timeout=5m")
	return err
}

func (s *Stage) createNamespace(ctx context.Context) error {
	err := s.Apply(ctx, fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", s.Namespace))
	if err != nil {
		return err
	}
	// Pods are refused until the controllers have created the namespace's service account.
	return lab.Eventually(ctx, 90*time.Second, func(ctx context.Context) error {
		var account struct{}
		return s.Get(ctx, "/api/v1/namespaces/"+s.Namespace+"/serviceaccounts/default", &account)
	})
}

// Agents reports whether a checker sees the nodes.
func (s *Stage) Agents() bool { return s.checker != nil && s.agents }
