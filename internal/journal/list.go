package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"plumbline.dev/plumbline/internal/hostfile"
	"plumbline.dev/plumbline/internal/repair/change"
)

// maxPlans is the maximum number of journals that are listed per cluster.
const maxPlans = 10_000

// A Summary is one line of the history. For a broken journal it has what could be read.
type Summary struct {
	Plan    string      `json:"plan"` // its ID
	State   State       `json:"state"`
	Why     string      `json:"why,omitempty"` // why it stopped or is broken
	Made    time.Time   `json:"made,omitzero"` // when the plan was made
	Last    time.Time   `json:"last,omitzero"` // time of the last entry
	Risk    change.Risk `json:"risk,omitempty"`
	Undoes  string      `json:"undoes,omitempty"`  // the plan that it reverts
	Targets []string    `json:"targets,omitempty"` // keys of findings
	Steps   int         `json:"steps"`             // of the plan
	Tried   int         `json:"tried"`             // steps with an entry
}

// List gives the journals of a cluster, the newest plan first; those without a time come last.
// A broken journal is listed as such and does not affect the others.
func List(state, cluster string) ([]Summary, error) {
	base, err := clusterDir(state, cluster)
	if err != nil {
		return nil, err
	}
	d, err := os.Open(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list journals: %w", err)
	}
	defer d.Close()
	var out []Summary
	all, err := d.ReadDir(maxPlans + 1)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	if len(all) > maxPlans {
		all, err = all[:maxPlans], fmt.Errorf("%s has more than %d journals; the rest is not listed", base, maxPlans)
	}
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), ".") && !e.Type().IsRegular() { // files beside the plans are of others
			out = append(out, summarize(filepath.Join(base, e.Name())))
		}
	}
	slices.SortFunc(out, func(a, b Summary) int {
		return cmp.Or(b.Made.Compare(a.Made), cmp.Compare(a.Plan, b.Plan))
	})
	if err != nil {
		err = fmt.Errorf("list journals: %w", err)
	}
	return out, err
}

func summarize(dir string) Summary {
	s := Summary{Plan: filepath.Base(dir)}
	if !goodName.MatchString(s.Plan) {
		// Quote it: it may contain control sequences for the terminal.
		return Summary{Plan: strconv.QuoteToASCII(s.Plan), State: Broken, Why: "not a valid plan ID"}
	}
	f, _, err := hostfile.OpenRegular(filepath.Join(dir, logFile), os.O_RDONLY)
	if err != nil {
		s.State, s.Why = Broken, err.Error()
		return s
	}
	defer f.Close()
	running := hostfile.Locked(f) // check the lock before reading: a plan that ends in between is then read as finished
	c, err := read(dir, f)
	s.fill(&c)
	switch {
	case err != nil:
		s.State, s.Why = Broken, err.Error()
	case running:
		s.State, s.Why = Running, ""
	}
	return s
}

func (s *Summary) fill(c *content) {
	s.State = StateOf(c.entries)
	if n := len(c.entries); n > 0 {
		s.Last = c.entries[n-1].At.Time()
		if s.State == Stopped {
			s.Why = c.entries[n-1].Why
		}
	}
	if c.plan == nil {
		return
	}
	s.Made, s.Risk, s.Undoes, s.Steps = c.plan.Made.Time(), c.plan.Risk(), c.plan.Undoes, len(c.plan.Steps)
	for i := range c.plan.Targets {
		s.Targets = append(s.Targets, c.plan.Targets[i].Finding)
	}
	s.Tried = len(progressOf(c.plan, c.entries))
}
