package term

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal gives the two ends of a pseudo-terminal: what programs write to, and what a person reads.
func openTerminal(t *testing.T) (program, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return program, person
}

// A terminal has colours, unless NO_COLOR or TERM says otherwise.
func TestColourOnTerminal(t *testing.T) {
	t.Parallel()
	const red = "\x1b[31merror\x1b[0m"
	for name, c := range map[string]struct {
		env      map[string]string
		coloured bool
	}{
		"a terminal":     {nil, true},
		"NO_COLOR":       {map[string]string{"NO_COLOR": "1"}, false},
		"NO_COLOR empty": {map[string]string{"NO_COLOR": ""}, true},
		"TERM=dumb":      {map[string]string{"TERM": "dumb"}, false},
	} {
		program, person := openTerminal(t)
		s := &Session{Env: Env{Stdout: program, Columns: 80, Getenv: func(k string) string { return c.env[k] }}}
		s.PrintTable(80, [][]string{{"SEV", "FINDING"}, {"error", "PL2001/shop/db-0"}})
		r := bufio.NewReader(person)
		head, err := r.ReadString('\n')
		row, err2 := r.ReadString('\n')
		if err != nil || err2 != nil || !strings.HasPrefix(head, "SEV ") {
			t.Fatalf("%s: %q, %v, %v", name, head, err, err2)
		}
		if got := strings.HasPrefix(row, red+"  PL2001"); got != c.coloured || !c.coloured && strings.ContainsRune(row, 0x1b) {
			t.Errorf("%s: %q", name, row)
		}
	}
}
