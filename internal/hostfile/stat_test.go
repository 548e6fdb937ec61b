package hostfile

import (
	"strings"
	"testing"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	rest := " 1 2 1 0 -1 %s 0 0 0 0 0 0 0 0 20 0 3 0 777 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 140000 140100 0\n"
	user := strings.Replace(rest, "%s", "4194304", 1)
	for name, c := range map[string]struct {
		in   string
		want Task
	}{
		"plain":            {"31238 (java) Z" + user, Task{ID: 31238, Name: "java", State: 'Z', Parent: 1, Group: 2, Threads: 3, Start: 777, Env: 140000}},
		"a name like stat": {"5 (a) S 1 (b) D" + user, Task{ID: 5, Name: "a) S 1 (b", State: 'D', Parent: 1, Group: 2, Threads: 3, Start: 777, Env: 140000}},
		"of the kernel":    {"9 (kworker/0:1)) I" + strings.Replace(rest, "%s", "69238880", 1), Task{ID: 9, Name: "kworker/0:1)", State: 'I', Parent: 1, Group: 2, Kernel: true, Threads: 3, Start: 777, Env: 140000}},
		"old and short":    {"7 (x) R 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 42", Task{ID: 7, Name: "x", State: 'R', Parent: 1, Group: 1, Threads: 1, Start: 42}},
	} {
		if got, err := parseStat([]byte(c.in)); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	for _, in := range []string{
		"", "1", "1 (a", "1 (a)", "1 (a) ", "42 (a", "x (a) S" + user, "1 (a) S 1 1", "1 (a) S x" + user, "1 (a) SS" + user,
		"42 (a) S 7 x 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765",
	} {
		if got, err := parseStat([]byte(in)); err == nil {
			t.Errorf("%q: got %+v", in, got)
		}
	}
}

func FuzzStat(f *testing.F) {
	f.Add([]byte("5 (a) S 1 (b) D 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 3 0 777"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := parseStat(b); err == nil && (got.State == 0 || got.ID < 0) {
			t.Errorf("%q: %+v", b, got)
		}
	})
}
