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

	"plumbline.dev/plumbline/internal/repair"
)

// maxPlans is how many journals of a cluster are listed.
const maxPlans = 10_000

// A Summary is one line of the history. Of a broken journal it has what could be read.
type Summary struct {
	Plan    string      `json:"plan"`
	State   State       `json:"state"`
	Why     string      `json:"why,omitempty"` // it stopped, or is broken
	Made    time.Time   `json:"made,omitzero"`
	Last    time.Time   `json:"last,omitzero"` // entry
	Risk    repair.Risk `json:"risk,omitempty"`
	Undoes  string      `json:"undoes,omitempty"`
	Targets []string    `json:"targets,omitempty"` // keys of findings
	Steps   int         `json:"steps"`
	Tried   int         `json:"tried"` // steps of which the journal says something
}

// List gives the journals of a cluster, the newest plan first; those without a time come
// last. One that is broken says so and hides no other.
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
		all, err = all[:maxPlans], fmt.Errorf("%s has more than %d journals: the rest is not listed", base, maxPlans)
	}
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), ".") {
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
		// A terminal shows it: nothing of it may be a command to one.
		return Summary{Plan: strconv.QuoteToASCII(s.Plan), State: Broken, Why: "no plan has such a name"}
	}
	f, _, err := openRegular(filepath.Join(dir, logFile), os.O_RDONLY)
	if err != nil {
		s.State, s.Why = Broken, err.Error()
		return s
	}
	defer f.Close()
	running := locked(f) // asked first: an end that is written now is then read
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
	s.Tried = len(Progress(c.plan, c.entries))
}
