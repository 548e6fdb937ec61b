package parse

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// rowsOf gives all that is told of a text without a time, with its line.
func rowsOf(t testing.TB, text []byte) string {
	t.Helper()
	var out strings.Builder
	in := records.Input{Name: "seed", Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }}
	_, err := records.All(t.Context(), []records.Input{in}, records.Options{
		Now: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Workers: 1, Wants: Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) {
			return New(f, func(e timeline.Event) {
				if e.At.IsZero() {
					line := strconv.Itoa(int(e.Place.Line)) + " " + inOneLine(&e)
					if e.Device != "" {
						line += " device=" + e.Device
					}
					out.WriteString(line + "\n")
				}
			}).Parse
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestTablesOfSeeds checks that rows of commands are all that is told without a time of
// what the incidents' author pasted and wrote, and nothing of the prose around them.
func TestTablesOfSeeds(t *testing.T) {
	t.Parallel()
	for seed, dir := range map[string]string{
		"000": "../records/testdata/seeds", "001": "../records/testdata/seeds", "002": "testdata/seeds", "003": "testdata/seeds", "004": "../records/testdata/seeds",
	} {
		t.Run(seed, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(dir, seed+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			got := rowsOf(t, text)
			golden := filepath.Join("testdata", "seeds", seed+"-tables.golden")
			if *updateRuntime {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
		})
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	const row = "web-0   1/1   Running   0   1m   10.0.0.1   n1\n"
	const seen = "kubectl: pod seen node=n1 pod=a/web-0 note=Running address=10.0.0.1"
	compare(t, []toldCase{
		{"command", "$ kubectl -n a get pod -o wide\n" + row, []string{seen}},
		{"sudo", "[root@m1 ~]# sudo kubectl get po --namespace=a -owide | grep web\n" + row, []string{seen}},
		{"after", "$kubectl get pods -o wide -n a\nNAME    READY   STATUS    RESTARTS   AGE   IP    NODE\n" + row + row, []string{seen, seen}},
		{"noNamespace", "$ kubectl get pod -o wide\n" + row, nil},
		{"notTyped", "try kubectl -n a get pod -o wide\n" + row, nil},
		{"piped", "$ kubectl get pod -o wide | grep -n a\n" + row, nil},
		{"noCommand", row, nil},
		{"elsewhere", "$ kubectl -n a get pod -o wide\n\n" + row, nil},
		{"another", "$ kubectl -n a get pod -o wide\n$ kubectl get pod -o wide\n" + row, nil},
		{"ofAll", "b   " + row, []string{strings.Replace(seen, "a/", "b/", 1)}},
		{"new", "$ kubectl -n a get pod -o wide\nweb-0   1/1   Running   12 (5d4h ago)   60d   10.0.0.1   n1   <none>   <none>\n", []string{seen}},
		{"pending", "$ kubectl -n a get pod -o wide\nweb-1   0/1   Pending   0   1m   <none>   <none>\n" + row, []string{seen}},
		{"logged", "Dec 12 20:00:18 m1 script[3]: b   " + row, nil},
		{"notReady", "b   web-0   1   Running   0   1m   10.0.0.1   n1\n", nil},
		{"notAged", "b   web-0   1/1   Running   0   long   10.0.0.1   n1\n", nil},
		{"notAddressed", "b   web-0   1/1   Running   0   1m   10.0.0.1x   n1\n", nil},
		{
			"events", "$ kubectl -n a get events\nLAST SEEN   TYPE      REASON   OBJECT   MESSAGE\n" +
				"5m12s (x3 over 9m)   Warning   FailedKillPod   pod/web-0   error killing pod: no\n" +
				"3m   Normal   NodeNotReady   node/n1   Node n1 status is now: NodeNotReady\n3m   Normal   Created   pod/web-0   Created container\n",
			[]string{"events: pod kill failed pod=a/web-0 note=error killing pod: no count=3", "events: node not ready node=n1 note=Node n1 status is now: NodeNotReady"},
		},
		{"eventsOfAll", "a   3m   Normal   Killing   pod/web-0   Stopping container web\n", []string{"events: pod killed pod=a/web-0 note=Stopping container web"}},
		{"eventsOfNone", "3m   Normal   Killing   pod/web-0   Stopping container web\n", nil},
		{"notOfPods", "4f663934aaaa   busybox   \"sh\"   2 days ago   Up 2 days   k8s_x\n", nil},
		{"notOfDocker", "4f663934aaaa   \"/pause\"   2 days   Up 2 days   k8s_POD_web-0_a_4f663934-d898_0\n", nil},
		{
			"docker", "4f663934aaaa   pause:3.0   \"/pause\"   2 days ago   Exited (0) 3 hours ago      k8s_POD_web-0_a_4f663934-d898_0\n",
			[]string{"docker: pod seen pod=a/web-0 uid=4f663934-d89 sandbox=4f663934aaaa"},
		},
		{"arp", "10.0.0.1            ether   9e:83:2f:5d:c5:1e   CM                    cali49657a1e1a0\n", []string{"ip: neighbour seen address=10.0.0.1"}},
		{"route", "10.0.0.1 dev cali49657a1e1a0  scope link\n", []string{"ip: route seen address=10.0.0.1"}},
		{"calicoctl", "shop   web-0   n1   10.0.0.1/32   cali49657a1e1a0\n", []string{"calicoctl: pod seen node=n1 pod=shop/web-0 address=10.0.0.1"}},
		{"calicoctlWide", "n1-k8s-web--0-eth0   web-0   n1   10.0.0.1/32,fd00::1/128   cali49657a1e1a0   kns.shop,ksa.shop.default\n", []string{"calicoctl: pod seen node=n1 pod=shop/web-0 address=10.0.0.1"}},
		{"calicoctlWideOfAll", "shop   n1-k8s-web--0-eth0   web-0   n1   10.0.0.1/32   cali49657a1e1a0   kns.shop,ksa.shop.default\n", []string{"calicoctl: pod seen node=n1 pod=shop/web-0 address=10.0.0.1"}},
		{"calicoctlOfNone", "web-0   n1   10.0.0.1/32   cali49657a1e1a0\n", nil},
		{"otherProfile", "n1   k8s   a.web-0   eth0   10.0.0.1/32   cali91dded39638   k8s_ns.b\n", nil},
		{"network", "n1   k8s   a.web-0   eth0   10.0.0.0/26   cali91dded39638   k8s_ns.a\n", nil},
		{"libnetwork", "n1   libnetwork   a.web-0   eth0   10.0.0.1/32   cali91dded39638   k8s_ns.a\n", nil},
		{"secret", "$ kubectl --token=eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJleGFtcGxlIn0.c3ludGhldGljLXNpZ25hdHVyZQ -n a get pod\n", []string{"log: credential seen note=JWT"}},
	})
}

// TestRowsHaveNoHeader checks that what a program logs is its own affair, even a table.
func TestRowsHaveNoHeader(t *testing.T) {
	t.Parallel()
	text := []byte("a   web-0   1/1   Running   0   1m   10.0.0.1   n1")
	for header, want := range map[string]bool{"": true, "\t  ": true, "m1 script[3]: ": false} {
		r := records.Record{Text: text, Raw: append([]byte(header), text...)}
		if Wants(&r) != want {
			t.Errorf("behind %q it is wanted: %v", header, !want)
		}
	}
}

// TestRowsAreQuick makes sure that lines that are no rows cost no memory.
func TestRowsAreQuick(t *testing.T) {
	for _, text := range []string{
		"	at com.example.Thing.call(Thing.java:120)  ~[thing.jar:1.0]", "lrwxrwxrwx 1 root root 0 Mar 28 18:42 pid -> pid:[4026532484]",
		"192.168.91.33            ether   9e:83:2f:5d:c5:1e   CM                    eth0", "web-0   1/1   Running   0   long   10.0.0.1   n1",
	} {
		r := records.Record{Text: bytes.TrimSpace([]byte(text)), Raw: []byte(text)}
		if Wants(&r) {
			t.Errorf("%s is wanted", text)
		}
		if n := testing.AllocsPerRun(100, func() { Wants(&r) }); n != 0 {
			t.Errorf("%v allocations for %s", n, text)
		}
	}
}

func BenchmarkWantsRow(b *testing.B) {
	for _, text := range []string{
		strings.Repeat("a line of plain prose ", 9), "192.168.91.33            ether   9e:83:2f:5d:c5:1e   CM                    calic49657a1e1a" + strings.Repeat(" x  yy", 20),
	} {
		r := records.Record{Text: []byte(text), Raw: []byte(text)}
		b.Run(strconv.Itoa(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Wants(&r)
			}
		})
	}
}

func FuzzRows(f *testing.F) {
	for _, name := range []string{"../records/testdata/seeds/000.txt", "../records/testdata/seeds/001.txt", "testdata/seeds/003.txt", "../records/testdata/seeds/004.txt"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		before := []byte{}
		for line := range bytes.Lines(text) {
			if r := (records.Record{Text: bytes.TrimSpace(line), Raw: bytes.TrimSpace(line)}); wantsRow(&r) {
				f.Add(append(bytes.Clone(before), line...))
				before = bytes.Clone(line)
			}
		}
	}
	f.Add([]byte("$ kubectl -n a get ev\n3m (x2 over 4m)   Normal   Killing   pod/web-0   Stopping\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tl := listening(t)
		n := uint32(0)
		for line := range bytes.Lines(text) {
			n++
			line = bytes.TrimRight(line, "\r\n")
			r := records.Record{Text: bytes.TrimLeft(line, " \t"), Raw: line, Place: timeline.Place{Line: n}}
			if len(r.Text) > 0 && wantsRow(&r) {
				tl.Parse(&r)
			}
			tl.listed(&r)
		}
	})
}
