package ownerdb

import (
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// model is a directory in memory whose process can be killed before every operation and
// in the middle of a write. What was renamed stays; of what was not yet renamed a kill
// leaves what had been written by then, or nothing.
type model struct {
	data  map[string][]byte
	loose map[string]bool // written, not yet renamed
	held  map[string]bool
	ops   int
	kill  int // before this operation; 0: never
	full  int // from this operation on nothing can be written; 0: never
}

// killed is the panic by which a model's process dies.
type killed struct{}

func newModel() *model {
	return &model{data: map[string][]byte{}, loose: map[string]bool{}, held: map[string]bool{}}
}

// after is what the next process finds. Bits of forget say which loose files are gone.
func (m *model) after(forget int) *model {
	n := newModel()
	n.data = maps.Clone(m.data)
	for i, name := range slices.Sorted(maps.Keys(m.loose)) {
		n.loose[name] = true
		if forget&(1<<i) != 0 {
			delete(n.data, name)
			delete(n.loose, name)
		}
	}
	return n
}

func (m *model) step() {
	if m.ops++; m.ops == m.kill {
		panic(killed{})
	}
}

func (m *model) Read(name string) ([]byte, error) {
	m.step()
	d, ok := m.data[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(d), nil
}

func (m *model) Write(name string, data []byte) error {
	m.step()
	m.loose[name] = true
	for _, n := range []int{0, len(data) / 2, len(data)} {
		if m.full != 0 && m.ops >= m.full {
			return syscall.ENOSPC
		}
		m.data[name] = slices.Clone(data[:n])
		m.step()
	}
	return nil
}

func (m *model) Rename(from, to string) error {
	m.step()
	d, ok := m.data[from]
	if !ok {
		return fs.ErrNotExist
	}
	delete(m.data, from)
	delete(m.loose, from)
	m.data[to] = d
	m.step()
	return nil
}

func (m *model) Remove(name string) error {
	m.step()
	delete(m.data, name)
	delete(m.loose, name)
	m.step()
	return nil
}

func (m *model) List() ([]string, error) {
	m.step()
	return slices.Sorted(maps.Keys(m.data)), nil
}

func (m *model) Lock(name string) (func(), error) {
	m.step()
	if m.held[name] {
		return nil, syscall.EDEADLK
	}
	m.held[name] = true
	return func() { delete(m.held, name) }, nil
}

// alive runs f and tells whether it came to its end.
func alive(f func()) (yes bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(killed); !ok {
				panic(p)
			}
		}
	}()
	f()
	return true
}

// sane holds a record against itself: numbers are given once and only rise, and whoever
// is on record as the newest is the newest that is on record.
func sane(t *testing.T, b *DB) {
	t.Helper()
	all, err := b.All()
	if err != nil {
		t.Fatal(err)
	}
	newest, found := map[guard.Name]guard.Owner{}, map[guard.Name]*guard.Owner{}
	for i, o := range all {
		if i > 0 && all[i-1].Seq == o.Seq {
			t.Errorf("%s and %s have both %d", all[i-1].Container, o.Container, o.Seq)
		}
		if n, ok := newest[o.Name()]; o.Pod != "" && o.Holds() && (!ok || n.Seq < o.Seq) {
			newest[o.Name()] = o
		}
	}
	for n, want := range newest {
		got, err := b.Newest(n)
		found[n] = got
		if err != nil || got == nil || got.Seq != want.Seq {
			t.Errorf("the newest of %s is %v, %v; on record is %s of %d", n.Pod, got, err, want.Container, want.Seq)
		}
	}
	for _, o := range all {
		if _, ok := found[o.Name()]; !ok {
			found[o.Name()], _ = b.Newest(o.Name())
		}
		k := guard.Known{Own: &o, Newest: found[o.Name()], Keyed: guard.ByName, Mode: guard.Enforce}
		d := guard.Decide(guard.Call{Verb: guard.Del, Network: o.Network, Container: o.Container, IfName: o.IfName}, k)
		if w, ok := newest[o.Name()]; d.Late != (ok && w.Seq > o.Seq) {
			t.Errorf("%s of %d: late is %t, the newest is %v", o.Container, o.Seq, d.Late, w)
		}
	}
}
