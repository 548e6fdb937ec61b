package journal

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/repair"
)

const victim = "PLUMBLINE_TEST_JOURNAL_VICTIM"

func TestMain(m *testing.M) {
	if state := os.Getenv(victim); state != "" {
		appendForever(state)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// appendForever appends and says so after each, until it is killed.
func appendForever(state string) {
	j, err := Open(state, guid, "a")
	if err != nil {
		return
	}
	for i := len(j.Entries()); ; i++ {
		if j.Append(repair.Entry{Step: i, Outcome: repair.Intent}) != nil {
			return
		}
		if _, err := fmt.Fprintln(os.Stdout, i); err != nil {
			return
		}
	}
}

func TestKilledWhileAppending(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	kept(t, state, "a")
	had := 0
	for round := range 25 {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), victim+"="+state)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		if !said.Scan() {
			t.Fatalf("round %d: it wrote nothing", round)
		}
		had++
		if round == 0 {
			if _, err := Open(state, guid, "a"); !errors.Is(err, errInUse) {
				t.Errorf("two processes: %v", err)
			}
		}
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for said.Scan() {
			had++
		}
		_ = child.Wait() // it was killed
		j, err := Open(state, guid, "a")
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		es := j.Entries()
		if len(es) != had && len(es) != had+1 { // it may die before it can say so
			t.Fatalf("round %d: %d entries, %d were acknowledged", round, len(es), had)
		}
		for i := range es {
			if es[i].Step != i {
				t.Fatalf("round %d: entry %d is of step %d", round, i, es[i].Step)
			}
		}
		had = len(es)
		_ = j.Close()
	}
}
