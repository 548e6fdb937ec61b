package execute_test

import (
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/execute"
	"plumbline.dev/plumbline/internal/model"
	"plumbline.dev/plumbline/internal/repair"
	"plumbline.dev/plumbline/internal/repair/change"
)

// A write comes after the read, the verification, Halt and the Intent, in this order; the
// finding is verified once more after its last write. Before the first address is taken every
// node tells how Calico calls it.
func TestOrderOfAWrite(t *testing.T) {
	c := newCluster(t, blockA)
	res, err := c.executor().Run(t.Context(), planOf([]string{blockA}), nil)
	want := []string{"halt?", "read block 10.0.0.0/30", "verify n1", "verify n1", "halt?", "intent 1", "write block 10.0.0.0/30", "done 1", "verify n1"}
	if err != nil || !slices.Equal(c.log, want) || c.held(blockA) != "" || res.Findings[findingA].Outcome != repair.Done {
		t.Errorf("%v\n got %q\nwant %q\n%+v", err, c.log, want, res)
	}
}

// If an Intent cannot be journalled, neither its write nor any later one is done.
func TestNoWriteWithoutJournal(t *testing.T) {
	c := newCluster(t, blockA, blockB)
	c.journal = func(repair.Entry) error { return errTest }
	_, err := c.executor().Run(t.Context(), planOf([]string{blockA}, []string{blockB}), nil)
	if !errors.Is(err, errTest) || c.tries != 0 {
		t.Errorf("%v, writes sent: %d", err, c.tries)
	}
}

// What the executor does after each answer to a write.
func TestAnswersToAWrite(t *testing.T) {
	for name, test := range map[string]struct {
		put     func(c *cluster, apply func() error) error
		tries   int // writes that were sent, each after its own read
		journal string
		outcome repair.Outcome
		writes  int
	}{
		"stale: it reads and verifies again": {
			func(c *cluster, apply func() error) error {
				if c.tries == 1 {
					c.otherWriter(blockA)
				}
				return apply()
			}, 2, "intent stale intent done", repair.Done, 1,
		},
		"stale every time: it gives up": {
			func(*cluster, func() error) error { return execute.ErrStale },
			12, strings.Repeat("intent stale ", 12) + "failed", repair.Failed, 0,
		},
		"refused: it does not try again": {
			func(*cluster, func() error) error { return execute.ErrRefused },
			1, "intent failed failed", repair.Failed, 0,
		},
		"answer lost after the write: it finds its own write": {
			func(_ *cluster, apply func() error) error { return errors.Join(errTest, apply()) },
			1, "intent unknown done", repair.Done, 1,
		},
		"answer lost before the write: it writes": {
			func(c *cluster, apply func() error) error {
				if c.tries == 1 {
					return errTest
				}
				return apply()
			}, 2, "intent unknown intent done", repair.Done, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, blockA)
			c.put = test.put
			res, err := c.executor().Run(t.Context(), planOf([]string{blockA}), nil)
			if got := c.outcomes(); err != nil || got != test.journal || res.Findings[findingA].Outcome != test.outcome {
				t.Errorf("%v\n got %s\nwant %s\n%+v", err, got, test.journal, res)
			}
			if test.writes == 1 && c.held(blockA) != "" {
				t.Error("the address is not released")
			}
			if c.tries != test.tries || c.writes != test.writes || c.count("read block "+blockA) < test.tries || c.count("verify n1") < test.tries {
				t.Errorf("%d tries, %d writes: %q", c.tries, c.writes, c.log)
			}
		})
	}
}

// After a stop during any verification nothing is written: see cluster.write.
func TestHaltStopsBeforeTheNextWrite(t *testing.T) {
	for at, writes := range []int{0, 0, 1, 1, 2} { // at the names, before write 1, after it, before write 2, after it
		c, asked := newCluster(t, blockA, blockB), 0
		c.answer = func(*model.Verification) error {
			c.halted = c.halted || asked == at
			asked++
			return nil
		}
		_, err := c.executor().Run(t.Context(), planOf([]string{blockA}, []string{blockB}), nil)
		if c.writes != writes || errors.Is(err, errTest) != (writes < 2) || strings.HasSuffix(c.outcomes(), "intent") {
			t.Errorf("stop at verification %d: %v, %d writes, %s", at, err, c.writes, c.outcomes())
		}
	}
}

// Three steps in a row whose writes fail end the run: the cause probably concerns all steps.
func TestFailuresInARowEndTheRun(t *testing.T) {
	blocks := []string{blockA, blockB, "10.0.0.8/30", "10.0.0.12/30"}
	c := newCluster(t, blocks...)
	c.put = func(*cluster, func() error) error { return execute.ErrRefused }
	_, err := c.executor().Run(t.Context(), planOf(blocks[:1], blocks[1:2], blocks[2:3], blocks[3:]), nil)
	if err == nil || c.tries != 3 {
		t.Errorf("%v after %d writes", err, c.tries)
	}
}

// A refused block write after a raised count: the count is set back, at once and by an undo later.
func TestRaisedCountIsSetBack(t *testing.T) {
	handle := model.Ref{Kind: model.KindHandle, Name: handleOf(blockA)}
	block := netip.MustParsePrefix(blockA)
	for name, later := range map[string]bool{"at once": false, "by an undo later": true} {
		t.Run(name, func(t *testing.T) {
			c, p := newCluster(t, blockA), planOf([]string{blockA})
			raise := &change.Count{Handle: handle.Name, Raise: []change.Raise{{Block: block, IPs: []netip.Addr{block.Addr().Next()}}}}
			p.Steps = append([]repair.Step{{Do: "count", On: handle, For: []string{findingA}, Change: raise}}, p.Steps...)
			p.Steps[0].ID, p.Steps[1].ID = 1, 2
			c.put = func(c *cluster, apply func() error) error {
				if c.tries != 2 {
					return apply()
				}
				c.halted = later // apply ends here, as if it was killed
				return execute.ErrRefused
			}
			_, err := c.executor().Run(t.Context(), p, nil)
			if later {
				if c.halted = false; err == nil || c.counted(handle, blockA) != 2 {
					t.Fatalf("%v, count %d", err, c.counted(handle, blockA))
				}
				_, err = c.executor().Run(t.Context(), repair.Undo(p, c.disk, ""), nil)
			}
			if got := c.counted(handle, blockA); err != nil || got != 1 {
				t.Errorf("%v, count %d, want what the block holds: 1; %q", err, got, c.log)
			}
		})
	}
}

func (c *cluster) counted(handle model.Ref, block string) int {
	var h struct{ Block map[string]int }
	if err := json.Unmarshal(c.objects[handle].Body, &h); err != nil {
		c.t.Fatal(err)
	}
	return h.Block[block]
}

// A finding above MaxRisk is refused without a write; the others are repaired.
func TestMaxRisk(t *testing.T) {
	c, p := newCluster(t, blockA, blockB), planOf([]string{blockA}, []string{blockB})
	p.Targets[0].Risk = change.Disruptive
	res, err := c.executor().Run(t.Context(), p, nil)
	if err != nil || res.Findings[findingA].Outcome != repair.Refused || c.held(blockA) == "" {
		t.Errorf("%v, %+v", err, res)
	}
	if res.Findings[findingB].Outcome != repair.Done || c.held(blockB) != "" || c.writes != 1 {
		t.Errorf("%+v, %d writes", res, c.writes)
	}
}

// A dry run verifies and sends the writes to the caller's store, and journals nothing.
func TestDryRunJournalsNothing(t *testing.T) {
	c := newCluster(t, blockA)
	c.dry = true
	res, err := c.executor().Run(t.Context(), planOf([]string{blockA}), nil)
	if err != nil || len(c.disk) != 0 || c.tries != 1 || c.count("verify n1") == 0 || res.Findings[findingA].Outcome != repair.Done {
		t.Errorf("%v, %q, %+v", err, c.log, res)
	}
}

func (c *cluster) outcomes() string {
	var out []string
	for _, e := range c.disk {
		out = append(out, string(e.Outcome))
	}
	return strings.Join(out, " ")
}

func (c *cluster) count(event string) int {
	n := 0
	for _, e := range c.log {
		if e == event {
			n++
		}
	}
	return n
}
