package cniconf

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

const his = `{"name":"n","cniVersion":"0.4.0","plugins":[{"type":"calico","new":true}]}`

// A stranger who writes at the same moment has the last word, however he writes and
// at whatever step it is: neither is what he wrote lost, nor half of it kept.
func TestEveryStranger(t *testing.T) {
	t.Parallel()
	strangers := map[string]func(t *testing.T, f *File){
		"in place": func(t *testing.T, f *File) { t.Helper(); write(t, f.path, his) },
		"by rename": func(t *testing.T, f *File) {
			t.Helper()
			write(t, f.path+".his", his)
			if err := os.Rename(f.path+".his", f.path); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, c := range runs(t) {
		for how, stranger := range strangers {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				for n, more := 1, true; more; n++ {
					f := place(t, c.before)
					calls := 0
					f.disk = &observed{disk: f.disk, before: func(string) {
						if calls++; calls == n {
							stranger(t, f)
						}
					}}
					changed, err := c.run(f)
					more = calls >= n
					if now := text(t, f); more && now != his && now != guarded(t, his) {
						t.Errorf("before call %d: %t, %v: %q", n, changed, err, now)
					}
					if changed && more && text(t, f) == his && c.after != plain && n < calls {
						t.Errorf("before call %d: it says changed, and is not", n)
					}
				}
			})
		}
	}
}

// exchanges counts how often the file was replaced, and calls at when a call is made.
func exchanges(f *File, at func(call string, n int)) *int {
	n, count := 0, 0
	f.disk = &observed{disk: f.disk, before: func(call string) {
		if call == "exchange" {
			count++
		}
	}, after: func(call string) {
		n++
		at(call, n)
	}}
	return &count
}

// What can be seen beforehand is not replaced even for a moment.
func TestReplacedOnlyWhenSure(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	count := exchanges(f, func(call string, _ int) {
		if call == "sync" {
			write(t, f.path, his)
		}
	})
	if changed, err := Install(t.Context(), f, yes); changed || err == nil || *count != 0 || text(t, f) != his {
		t.Errorf("changed before: %t, %v, replaced %d times", changed, err, *count)
	}
	f = place(t, plain)
	ctx, cancel := context.WithCancel(t.Context())
	count = exchanges(f, func(call string, _ int) {
		if call == "sync" {
			cancel()
		}
	})
	if changed, err := Install(ctx, f, yes); changed || err == nil || *count != 0 || text(t, f) != plain {
		t.Errorf("cancelled: %t, %v, replaced %d times", changed, err, *count)
	}
	f = place(t, plain)
	count = exchanges(f, func(string, int) {})
	changed, err := Install(t.Context(), f, func(ctx context.Context) (bool, string, error) {
		write(t, f.path, his)
		return no(ctx)
	})
	if changed || err == nil || *count != 1 || text(t, f) != his {
		t.Errorf("changed after: %t, %v, replaced %d times", changed, err, *count)
	}
}

// A disk that says yes and does nothing is found out.
func TestDraftIsReadBack(t *testing.T) {
	t.Parallel()
	for _, lies := range []string{"dress", "write"} {
		f := place(t, plain)
		if err := os.Chmod(f.path, 0o640); err != nil {
			t.Fatal(err)
		}
		f.disk = &observed{disk: f.disk, fails: func(call string) (bool, error) { return call == lies, nil }}
		if changed, err := Install(t.Context(), f, yes); changed || err == nil || !strings.Contains(err.Error(), "differs from what was to be written") || text(t, f) != plain {
			t.Errorf("%s: %t, %v", lies, changed, err)
		}
		alone(t, f)
	}
}

// A writer that has the old file open when it is replaced goes on writing to the right one.
func TestWriterWithTheOldFileOpen(t *testing.T) {
	t.Parallel()
	f := place(t, plain)
	var w *os.File
	f.disk = &observed{disk: f.disk, before: func(call string) {
		var err error
		switch {
		case call == "exchange" && w == nil:
			w, err = os.OpenFile(f.path, os.O_WRONLY|os.O_TRUNC, 0)
			if err == nil {
				_, err = fmt.Fprint(w, his[:20])
			}
		case call == "remove" && w != nil:
			_, err = fmt.Fprint(w, his[20:])
		}
		if err != nil {
			t.Fatal(err)
		}
	}}
	if changed, err := Install(t.Context(), f, yes); changed || err == nil {
		t.Errorf("%t, %v", changed, err)
	}
	if err := w.Close(); err != nil || text(t, f) != his {
		t.Errorf("%v: %s", err, text(t, f))
	}
}

// So does one that writes only later, as long as we wait.
func TestLateWriterWithTheOldFileOpen(t *testing.T) {
	t.Parallel()
	for _, before := range []string{plain, guarded(t, plain)} {
		f := place(t, before)
		w, err := os.OpenFile(f.path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		exchanged, reads := false, 0
		exchanges(f, func(call string, _ int) {
			exchanged = exchanged || call == "exchange"
			if exchanged && call == "read" {
				reads++
			}
			if reads == 2 { // the first look after it found nothing
				reads++
				if err := w.Truncate(0); err != nil {
					t.Error(err)
				}
				if _, err := fmt.Fprint(w, his); err != nil {
					t.Error(err)
				}
			}
		})
		var changed bool
		if before == plain {
			changed, err = Install(t.Context(), f, yes)
		} else {
			changed, err = Remove(t.Context(), f)
		}
		if changed || err == nil || text(t, f) != his {
			t.Errorf("%t, %v: %s", changed, err, text(t, f))
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		alone(t, f)
	}
}
