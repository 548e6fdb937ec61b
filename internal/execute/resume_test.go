package execute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
)

// What happens to the write for a finding that cannot be completed, or that is not verified
// after its last write.
func TestCompensation(t *testing.T) {
	both, one := planOf([]string{blockA, blockB}), planOf([]string{blockA})
	silent := 4 // requests without an answer: all those of one verification after the last write
	for name, test := range map[string]struct {
		plan    *repair.Plan
		later   func(*model.Verification) error // what the agent answers once block A was written
		outcome repair.Outcome
		undone  bool
	}{
		"the second step is refused: undone":           {both, sandboxReady(blockB), repair.Refused, true},
		"the sandbox exists after the release: undone": {one, sandboxReady(blockA), repair.Failed, true},
		"another pod has the address: not given back":  {both, namespaceHas("10.0.0.0/32"), repair.Refused, false},
		"no answer after the last write: nothing is undone": {one, func(*model.Verification) error {
			if silent--; silent >= 0 {
				return errTest
			}
			return nil
		}, repair.Unknown, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, blockA, blockB)
			c.answer = func(v *model.Verification) error {
				if c.writes == 0 {
					return nil
				}
				return test.later(v)
			}
			res, err := c.executor().Run(t.Context(), test.plan, nil)
			if err != nil || res.Findings[findingA].Outcome != test.outcome || (c.held(blockA) == handleOf(blockA)) != test.undone {
				t.Errorf("%v, block A is held by %q, %+v", err, c.held(blockA), res)
			}
			if c.held(blockB) != handleOf(blockB) {
				t.Error("block B was written")
			}
			handle := c.objects[model.Ref{Kind: model.KindHandle, Name: handleOf(blockA)}]
			if counts := strings.Contains(string(handle.Body), `{"10.0.0.0/30":1}`); counts != test.undone {
				t.Errorf("handle: %s", handle.Body)
			}
			if i := slices.IndexFunc(c.disk, func(e repair.Entry) bool { return e.Undo && e.Outcome == repair.Done }); (i >= 0) != test.undone {
				t.Errorf("journal: %+v", c.disk)
			}
		})
	}
}

// A run that is continued repeats no step that is Done, and does not repair again what was undone.
func TestFinishedRunIsNotRepeated(t *testing.T) {
	for _, undo := range []bool{false, true} {
		c, p := newCluster(t, blockA), planOf([]string{blockA})
		c.answer = func(v *model.Verification) error {
			if undo && c.writes > 0 {
				return sandboxReady(blockA)(v)
			}
			return nil
		}
		if _, err := c.executor().Run(t.Context(), p, nil); err != nil {
			t.Fatal(err)
		}
		c.answer, c.log = nil, nil // the sandbox is gone
		res, err := c.executor().Run(t.Context(), p, slices.Clone(c.disk))
		if v := res.Findings[findingA]; err != nil || v.Repaired() == undo || c.count("write block "+blockA) > 0 || !undo && c.count("read block "+blockA) > 0 {
			t.Errorf("undone %v: %v, %+v, %q", undo, err, v, c.log)
		}
	}
}

// A run that crashes at any entry of the journal, just before or just after it is on disk, is
// continued from the journal: the state is the same as without the crash, and no step writes
// twice.
func TestCrashIsResumed(t *testing.T) {
	for name, refused := range map[string]bool{"repair": false, "repair and undo": true} {
		for crash := 1; ; crash++ {
			done := false
			for _, kept := range []bool{false, true} {
				at := fmt.Sprintf("%s, crash at entry %d, on disk %v", name, crash, kept)
				done = crashed(t, at, refused, crash, kept)
			}
			if done {
				break
			}
		}
	}
}

// crashed runs the plan with a crash and continues it. It is true if the run had ended before.
func crashed(t *testing.T, at string, refused bool, crash int, kept bool) bool {
	t.Helper()
	c, p := newCluster(t, blockA, blockB), planOf([]string{blockA, blockB})
	c.answer = func(v *model.Verification) error {
		if refused && c.writes > 0 {
			return sandboxReady(blockB)(v)
		}
		return nil
	}
	entries := 0
	c.journal = func(e repair.Entry) error {
		if entries++; entries != crash {
			return nil
		}
		if kept {
			c.disk = append(c.disk, e)
		}
		return errTest
	}
	_, err := c.executor().Run(t.Context(), p, nil)
	if err == nil {
		return true
	}
	res, err := c.executor().Run(t.Context(), p, slices.Clone(c.disk))
	wantA, wantB, blocks := "", "", 2 // writes of blocks
	if refused {
		wantA, wantB = handleOf(blockA), handleOf(blockB) // released and allocated again
	}
	if v := res.Findings[findingA]; err != nil || v.Repaired() == refused {
		t.Errorf("%s: %v, %+v", at, err, v)
	}
	if c.held(blockA) != wantA || c.held(blockB) != wantB {
		t.Errorf("%s: the blocks are held by %q and %q", at, c.held(blockA), c.held(blockB))
	}
	if n := c.count("write block "+blockA) + c.count("write block "+blockB); n != blocks {
		t.Errorf("%s: %d writes of blocks: %q", at, n, c.log)
	}
	return false
}
