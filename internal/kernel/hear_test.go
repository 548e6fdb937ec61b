//go:build linux

package kernel

import (
	"go/parser"
	"go/token"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plumbline.dev/plumbline/internal/kernel/rtnl"
	"plumbline.dev/plumbline/internal/model"
)

func TestEveryDumpIsGuarded(t *testing.T) {
	t.Parallel()
	if got := unguarded(t, os.DirFS(".")); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

var dumps = regexp.MustCompile(`NLM_F_(DUMP|ROOT|MATCH)\b`)

// unguarded names the files that read tables by a way of their own: with the library,
// whose lists are taken for whole when they are not, or around rtnl's one dump.
func unguarded(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var out []string
	files := 0
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		files++
		src, err := fs.ReadFile(tree, p)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, "vishvananda") {
				out = append(out, p)
			}
		}
		if p != "rtnl/dump_linux.go" && dumps.Match(src) {
			out = append(out, p)
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files: %v", files, err)
	}
	return out
}

func message(kind uint16, body ...byte) []byte {
	b := []byte{byte(16 + len(body)), 0, 0, 0, byte(kind), byte(kind >> 8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
	return append(b, body...)
}

// heard gives the calls that a datagram makes, with namespace 3 known as inode 33.
func heard(t *testing.T, d datagram) map[uint64][]model.Table {
	t.Helper()
	calls := map[uint64][]model.Table{}
	w := &watcher{
		names:    numbers{o: Options{Proc: t.TempDir(), Root: t.TempDir()}, known: map[int32]uint64{3: 33}},
		Listener: Listener{Changed: func(inode uint64, tables ...model.Table) { calls[inode] = tables }, Heard: func(Written) {}},
	}
	if err := w.hear(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	return calls
}

func TestWhatADatagramConcerns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d     datagram
		inode uint64
		want  []model.Table
	}{
		"host route":           {datagram{body: message(unix.RTM_NEWROUTE)}, 0, ofRoute},
		"host device":          {datagram{body: message(unix.RTM_DELLINK)}, 0, ofLink},
		"pod route":            {datagram{body: message(unix.RTM_DELROUTE), away: true, id: 3}, 33, inside},
		"pod address":          {datagram{body: message(unix.RTM_DELADDR), away: true, id: 3}, 33, insideIPs},
		"unknown pod":          {datagram{body: message(unix.RTM_DELADDR), away: true, id: 4}, Any, insideIPs},
		"namespace ended":      {datagram{body: message(unix.RTM_DELNSID, 0, 0, 0, 0, 8, 0, 1, 0, 3, 0, 0, 0)}, Any, ofSpace},
		"overrun":              {datagram{err: unix.ENOBUFS}, Any, everything},
		"cut":                  {datagram{body: message(unix.RTM_NEWROUTE), cut: true}, Any, everything},
		"malformed":            {datagram{body: append(message(9999), make([]byte, 16)...)}, Any, everything},
		"not from the kernel":  {datagram{body: message(unix.RTM_NEWROUTE), from: 77}, 0, nil},
		"of no interest":       {datagram{body: message(unix.RTM_NEWQDISC)}, 0, nil},
		"pod's own namespaces": {datagram{body: message(unix.RTM_NEWNSID), away: true, id: 3}, 33, nil},
	} {
		calls := heard(t, c.d)
		if !slices.Equal(calls[c.inode], c.want) || (c.want == nil) != (len(calls) == 0) {
			t.Errorf("%s: %v", name, calls)
		}
	}
}

func TestNumberThatIsGivenAgainIsForgotten(t *testing.T) {
	t.Parallel()
	n := numbers{o: Options{Proc: t.TempDir(), Root: t.TempDir()}, known: map[int32]uint64{3: 33}}
	if got := n.of(t.Context(), 3); got != 33 {
		t.Errorf("namespace %d", got)
	}
	n.forget(3)
	if got := n.of(t.Context(), 3); got != Any {
		t.Errorf("namespace %d", got)
	}
}

func TestDeviceGetsANameOnlyIfItStayed(t *testing.T) {
	t.Parallel()
	device := func(index int, id int32) rtnl.Device {
		return rtnl.Device{Link: model.Link{Index: index, Kind: "veth"}, Away: true, AwayID: id}
	}
	var f model.NodeState
	place(&f, 1, map[int32]uint64{3: 33, 4: 44}, []rtnl.Device{device(7, 3), device(8, 3)}, []rtnl.Device{device(7, 3), device(8, 4), device(9, 4)})
	for i, want := range []uint64{33, 0, 0} {
		if f.Links[i].PeerNS != want {
			t.Errorf("%+v, want %d", f.Links[i], want)
		}
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	a := netip.MustParseAddr
	p := netip.MustParsePrefix
	got := targets([]netip.Addr{a("10.0.0.2"), a("10.0.0.1")}, []model.Route{
		{Dst: p("10.0.0.1/32"), Link: 3},
		{Dst: p("fd00::1/128"), Link: 3},
		{Dst: p("10.0.0.3/32"), Link: 3, Type: "local"},
		{Dst: p("10.0.0.4/32"), Type: "blackhole"},
		{Dst: p("10.0.1.0/24"), Link: 3},
	})
	if !slices.Equal(got, []netip.Addr{a("10.0.0.1"), a("10.0.0.2"), gateway, a("fd00::1")}) {
		t.Errorf("%v", got)
	}
}

func TestDeviceNamesArePathElements(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"cali1": true, "eth0.100": true, "": false, ".": false, "..": false, "../x": false, "a/b": false} {
		if fileName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add(message(unix.RTM_DELNSID, 0, 0, 0, 0, 8, 0, 1, 0, 3, 0, 0, 0), []byte{})
	f.Add(message(unix.RTM_NEWROUTE), append([]byte{20, 0, 0, 0, 0, 0, 0, 0, 14, 1, 0, 0, 8, 0, 0, 0}, 3, 0, 0, 0))
	f.Fuzz(func(t *testing.T, body, oob []byte) {
		id, away, err := namespaceOf(oob)
		if err == nil {
			heard(t, datagram{body: body, id: id, away: away})
		}
	})
}
