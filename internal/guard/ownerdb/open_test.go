package ownerdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/guard"
)

func TestOpenRefuses(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a symlink":           func(dir string) error { return os.Symlink(t.TempDir(), dir) },
		"a file":              func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"open to others":      func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o750)) },
		"a parent for others": func(dir string) error { return os.Chmod(filepath.Dir(dir), 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "guard")
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(dir); err == nil {
				t.Error("it was opened")
			}
		})
	}
}

func TestRootOpenRefusesOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "guard")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("somebody else's directory was opened")
	}
}

func opened(t testing.TB) (*DB, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run", "guard")
	b, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Fatalf("the directory has %v, %v", st.Mode(), err)
	}
	return b, dir
}

// TestHostile records names that are not meant for file systems.
func TestHostile(t *testing.T) {
	b, dir := opened(t)
	for _, id := range []string{"", "..", "../../etc/passwd", "a/b", "a\x00b", strings.Repeat("ü", 256), "a\nb", "\xff\xfe"} {
		o := attachment("c"+id, "p"+id)
		o.Network, o.Namespace = "n"+id, id
		begun, err := b.Begin(o)
		if len(o.Pod) > maxID {
			if err == nil {
				t.Errorf("%q was recorded", id)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", id, err)
		}
		if got, err := b.Owner(o.Key); id != "\xff\xfe" && (err != nil || got == nil || got.Seq != begun.Seq) {
			t.Errorf("%q: %v, %v", id, got, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("beside the record there is %v, %v", entries, err)
	}
	// Parts that only together are the same are not the same.
	x, y := attachment("b", "web"), attachment("ab", "web")
	x.Network, y.Network = "na", "n"
	if ownerOf(x.Key) == ownerOf(y.Key) {
		t.Error("two attachments have one file")
	}
}

// TestCorrupt flips every byte of a record. It is then unknown, and nobody is late.
func TestCorrupt(t *testing.T) {
	b, dir := opened(t)
	old, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Begin(attachment("b", "web")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ownerOf(old.Key), indexOf(old.Name()), ownerOf(attachment("b", "").Key)} {
		file := filepath.Join(dir, name)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range whole {
			bad := append([]byte{}, whole...)
			bad[i] ^= 1
			if err := os.WriteFile(file, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			own, _ := b.Owner(old.Key)
			newest, _ := b.Newest(old.Name())
			k := guard.Known{Own: own, Newest: newest, Keyed: guard.ByName, Mode: guard.Enforce}
			if d := guard.Decide(guard.Call{Verb: guard.Del, Network: "net", Container: "a", IfName: "eth0"}, k); d.Late || !d.Forward {
				t.Fatalf("byte %d of %s: %+v", i, name, d)
			}
		}
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// One container's file under another's name is nobody's.
	if err := os.Rename(filepath.Join(dir, ownerOf(attachment("b", "").Key)), filepath.Join(dir, ownerOf(old.Key))); err != nil {
		t.Fatal(err)
	}
	if own, _ := b.Owner(old.Key); own != nil {
		t.Errorf("a foreign record was believed: %+v", own)
	}
}

func TestOtherBoot(t *testing.T) {
	b, _ := opened(t)
	old, err := b.Begin(attachment("a", "web"))
	if err != nil {
		t.Fatal(err)
	}
	next := &DB{b.files, "another boot"}
	if o, _ := next.Owner(old.Key); o != nil {
		t.Errorf("%+v is believed after a boot", o)
	}
	if o, _ := next.Newest(old.Name()); o != nil {
		t.Errorf("%+v is the newest after a boot", o)
	}
	if again, err := next.Begin(attachment("a", "web")); err != nil || again.Again {
		t.Errorf("%+v, %v: after a boot an ADD is the first", again, err)
	}
	if all, err := next.All(); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestHeld: who cannot have the lock is told so in time, and can go on without a record.
func TestHeld(t *testing.T) {
	b, _ := opened(t)
	o := attachment("a", "web")
	_, unlock, err := b.lock(o.Name(), o.Key)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now() //nolint:forbidigo // how long it takes is what is tested
	if _, err := b.Begin(o); err == nil {
		t.Error("it was recorded without the lock")
	}
	if d := time.Since(began); d < lockWait {
		t.Errorf("it took %s", d)
	}
	unlock()
	if _, err := b.Begin(o); err != nil {
		t.Error(err)
	}
}

// TestBounded makes many attachments, as a node of short jobs does in a week.
func TestBounded(t *testing.T) {
	t.Parallel()
	m := newModel()
	b := &DB{m, "boot"}
	for i := range 8000 {
		c := "job-" + strings.Repeat("i", i%7) + time.Duration(i).String()
		o, err := b.Begin(attachment(c, c))
		if err != nil {
			t.Fatal(err)
		}
		if i%3 != 0 {
			o.State = guard.Deleted
			if err := b.End(o); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(m.data); n > maxFiles+2*trimEvery {
			t.Fatalf("%d files after %d attachments", n, i)
		}
	}
	if err := b.Forget(0); err != nil {
		t.Fatal(err)
	}
	all, err := b.All()
	if err != nil || len(all) == 0 || len(all) > maxOwners {
		t.Fatalf("%d are kept, %v", len(all), err)
	}
	for _, o := range all {
		if o.State == guard.Deleted {
			t.Fatalf("%s is kept", o.Container)
		}
	}
}

func FuzzPage(f *testing.F) {
	whole, err := encode("boot", attachment("a", "web"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:20])
	f.Add([]byte("00000000 "))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o, err := decode[guard.Owner]("boot", data); err == nil {
			if _, err := encode("boot", o); err != nil && len(data) < maxPage/8 {
				t.Error(err)
			}
		}
		_, _ = decode[index]("boot", data)
		_, _ = decode[guard.QueuedDel]("boot", data)
	})
}

// However many pods come and go, one that runs is not forgotten for them.
func TestTheLivingAreKept(t *testing.T) {
	t.Parallel()
	b, err := Open(filepath.Join(t.TempDir(), "owners"))
	if err != nil {
		t.Fatal(err)
	}
	add := func(container string, ends guard.State) guard.Owner {
		t.Helper()
		o, err := b.Begin(guard.Owner{Key: guard.Key{Network: "n", Container: container, IfName: "eth0"}, Namespace: "ns", Pod: container})
		for _, o.State = range []guard.State{guard.Added, ends} {
			err = errors.Join(err, b.End(o))
		}
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	db := add("db-0", guard.Added)
	for i := range 3100 {
		add(fmt.Sprint("job-", i), guard.Deleted)
	}
	if err := b.Forget(keepDeleted); err != nil {
		t.Fatal(err)
	}
	all, err := b.All()
	if o, _ := b.Owner(db.Key); o == nil || err != nil || len(all) != 1+keepDeleted {
		t.Errorf("%+v; %d are kept, %v", o, len(all), err)
	}
}
