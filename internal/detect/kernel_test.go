package detect_test

import (
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/detect"
	"plumbline.dev/plumbline/internal/finding"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/snapshotio"
)

// ofKernel returns the PL3xxx findings of the PL3xxx fixtures.
func ofKernel(t *testing.T, change func(*model.Snapshot)) map[string]finding.Finding {
	t.Helper()
	out := map[string]finding.Finding{}
	for path, load := range kernelCases(t) {
		s := load().Snapshot
		change(s)
		for _, f := range detect.Run(model.Seal(s), detect.All...).Findings {
			if strings.HasPrefix(string(f.Code), "PL3") {
				out[path+" "+f.Key()] = f
			}
		}
	}
	return out
}

func kernelCases(t *testing.T) map[string]func() *snapshotio.Case {
	t.Helper()
	out := map[string]func() *snapshotio.Case{}
	for path, load := range cases(t) {
		if strings.HasPrefix(filepath.Base(path), "PL3") {
			out[path] = load
		}
	}
	return out
}

// Since of the node's rows proves the age of a finding: all rows, Felix included.
func TestKernelAgeIsProven(t *testing.T) {
	t.Parallel()
	found := ofKernel(t, func(*model.Snapshot) {})
	if len(found) < 30 {
		t.Fatalf("%d findings: the fixtures are not what they were", len(found))
	}
	for name, f := range found {
		undated := strings.HasPrefix(name, "testdata/PL3005.txtar PL3005/shop/island") || // a missing route has no time
			strings.Contains(name, " PL3007/") && !regexp.MustCompile("/(hole|prohibited)$").MatchString(name) // Felix may be about to follow Calico's records
		if f.Class == finding.Kernel && f.Proven().IsZero() != undated {
			t.Errorf("%s is proven since %s: %v", name, f.Proven(), f.Evidence)
		}
		if !slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return e.Ref.Kind == model.KindMachine }) {
			t.Errorf("%s has no evidence about Felix", name)
		}
	}
	felix := model.Time(1)
	for name, f := range ofKernel(t, func(s *model.Snapshot) {
		felix = s.Meta.Taken.Add(-60e9)
		for _, of := range s.NodeState {
			for i := range of.Machines {
				of.Machines[i].Since = felix
			}
		}
	}) {
		if since := f.Proven(); !since.IsZero() && since != felix {
			t.Errorf("%s: Felix is ready for a minute, and it is proven since %s", name, since)
		}
	}
}

// What changes by itself does not change the evidence that a reread compares.
func TestKernelEvidenceHolds(t *testing.T) {
	t.Parallel()
	before := ofKernel(t, func(*model.Snapshot) {})
	after := ofKernel(t, func(s *model.Snapshot) {
		for i := range s.Pods {
			if !unanswered(s, &s.Pods[i]) { // there readiness is part of the evidence
				s.Pods[i].Ready = !s.Pods[i].Ready
			}
		}
		for _, f := range s.NodeState {
			for i := range f.Machines {
				f.Machines[i].Uptime += 60
			}
			for i := range f.Neighbours {
				if f.Neighbours[i].State == "FAILED" {
					f.Neighbours[i].State = "INCOMPLETE"
				}
			}
			for i := range f.Attachments {
				a := &f.Attachments[i]
				if a.PIDs > 0 {
					a.PIDs++
				}
				for j := range a.Neighbours {
					a.Neighbours[j].State = flipped(a.Neighbours[j].State)
				}
			}
		}
	})
	for name, f := range before {
		if g, ok := after[name]; !ok || !f.Same(&g) {
			t.Errorf("%s:\n%v\nlater:\n%v", name, f.Evidence, g.Evidence)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d findings, later %d", len(before), len(after))
	}
}

func unanswered(s *model.Snapshot, pod *model.Pod) bool {
	for _, f := range s.NodeState {
		if slices.ContainsFunc(f.Neighbours, func(n model.Neighbour) bool {
			return n.State == "FAILED" && slices.Contains(pod.IPs, n.IP)
		}) {
			return true
		}
	}
	return false
}

func flipped(state string) string {
	switch state {
	case "FAILED":
		return "INCOMPLETE"
	case "REACHABLE":
		return "STALE"
	default:
		return state
	}
}

// The order of the kernel's rows does not matter.
func TestKernelOrder(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	before := ofKernel(t, func(*model.Snapshot) {})
	after := ofKernel(t, func(s *model.Snapshot) {
		for _, f := range s.NodeState {
			mix(rnd, f.Links)
			mix(rnd, f.Routes)
			mix(rnd, f.Paths)
			mix(rnd, f.Neighbours)
			mix(rnd, f.Attachments)
			mix(rnd, f.Sysctls)
			mix(rnd, f.Sandboxes)
			mix(rnd, f.CNIConfigs)
			mix(rnd, f.CNIResults)
			mix(rnd, f.Processes)
		}
	})
	for name, f := range before {
		if g, ok := after[name]; !ok || !f.Same(&g) || f.Summary != g.Summary {
			t.Errorf("%s: %s\n%v\nin another order: %s\n%v", name, f.Summary, f.Evidence, g.Summary, g.Evidence)
		}
	}
}

func mix[T any](rnd *rand.Rand, rows []T) {
	rnd.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
}
