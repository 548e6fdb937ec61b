package records

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
)

// A copied is a copy of a record that stays valid.
type copied struct {
	Record
	Text, Fields, Raw string
}

func file(name, text string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

// records reads the inputs with chunks of a size, and gives every record of each.
func records(t testing.TB, size int, o Options, in ...Input) ([]timeline.File, [][]copied) {
	t.Helper()
	var mu sync.Mutex
	got := map[uint16]*[]copied{}
	o.Parser = func(number uint16, _ *timeline.File) func(*Record) {
		mu.Lock()
		defer mu.Unlock()
		own := new([]copied)
		got[number] = own
		return func(r *Record) {
			c := copied{Record: *r, Text: string(r.Text), Fields: string(r.Fields), Raw: string(r.Raw)}
			c.Record.Text, c.Record.Fields, c.Record.Raw = nil, nil, nil
			*own = append(*own, c)
		}
	}
	files, err := all(context.Background(), in, o, size)
	if err != nil {
		t.Fatal(err)
	}
	out := make([][]copied, len(files))
	for i := range files {
		if own := got[uint16(i)]; own != nil {
			out[i] = *own
		}
	}
	return files, out
}

func one(t testing.TB, text string) []copied {
	t.Helper()
	_, got := records(t, chunkSize, Options{Now: time.Date(2026, 11, 16, 0, 0, 0, 0, time.UTC)}, file("one", text))
	return got[0]
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line string
		want copied
	}{
		"klog": {
			`I1115 10:31:56.650149      36 kubelet.go:1601] "SyncLoop" x="y"`,
			copied{Record: Record{At: at("2026-11-15T10:31:56.650149Z"), Style: Klog, PID: 36, Level: 'I', Origin: "kubelet.go"}, Text: `"SyncLoop" x="y"`},
		},
		"klog, spelled, in syslog, indented": {
			"\tDec 13 10:27:42 dev-slave-107 kubelet[15567]: ERROR:1213 10:27:42.891750   15568 cni.go:312] Error deleting",
			copied{Record: Record{At: at("2025-12-13T10:27:42.89175Z"), Style: Klog, Node: "dev-slave-107", Program: "kubelet", PID: 15567, Level: 'E', Origin: "cni.go"}, Text: "Error deleting"},
		},
		"logrus in syslog": {
			`Dec 12 20:21:27 slave-197 kubelet[11608]: time="2017-12-12T20:21:27+08:00" level=info msg="a \"b\" \\ c" Workload=x.y-0`,
			copied{Record: Record{At: at("2017-12-12T12:21:27Z"), Style: Logrus, Node: "slave-197", Program: "kubelet", PID: 11608, Level: 'I'}, Text: `a "b" \ c`, Fields: "Workload=x.y-0"},
		},
		"logrus": {
			`time="2026-11-15T13:06:20.984995233Z" level=warning msg=short a=b`,
			copied{Record: Record{At: at("2026-11-15T13:06:20.984995233Z"), Style: Logrus, Level: 'W'}, Text: "short", Fields: "a=b"},
		},
		"no logger in syslog, no process": {
			`Jul  4 15:22:06 slave-97 kernel: device-mapper: thin: Deletion`,
			copied{Record: Record{At: at("2026-07-04T15:22:06Z"), Node: "slave-97", Program: "kernel"}, Text: "device-mapper: thin: Deletion"},
		},
		"bracket of today": {
			`2026-11-15 10:32:04.670 [INFO][365] cni-plugin/k8s.go 74: Extracted Pod="x"`,
			copied{Record: Record{At: at("2026-11-15T10:32:04.670Z"), Style: Bracket, PID: 365, Level: 'I', Origin: "cni-plugin/k8s.go"}, Text: `Extracted Pod="x"`},
		},
		"bracket of 2017 in syslog": {
			`Dec 13 14:19:24 dev-slave-107 kubelet[15567]: 2017-12-13 14:19:24.223 [WARNING][14313] k8s.go 313: does not exist`,
			copied{Record: Record{At: at("2017-12-13T14:19:24.223Z"), Style: Bracket, Node: "dev-slave-107", Program: "kubelet", PID: 14313, Level: 'W', Origin: "k8s.go"}, Text: `does not exist`},
		},
		"etcd's client in syslog": {
			`Dec 13 14:19:24 dev-slave-107 kubelet[15567]: 2017-12-13 14:19:24.190011 I | warning: x`,
			copied{Record: Record{At: at("2025-12-13T14:19:24Z"), Node: "dev-slave-107", Program: "kubelet", PID: 15567}, Text: `2017-12-13 14:19:24.190011 I | warning: x`},
		},
		"CRI": {
			`2026-11-15T13:06:27.274123456Z stderr F 2026-11-15 13:06:27.274 [ERROR][119] felix/daemon.go 132: starting`,
			copied{Record: Record{At: at("2026-11-15T13:06:27.274123456Z"), Style: Bracket, PID: 119, Level: 'E', Origin: "felix/daemon.go"}, Text: `starting`},
		},
		"kubectl logs --timestamps": {
			`2026-11-15T13:06:27.274123456Z W1115 13:06:27.274000       1 main.go:1] hm`,
			copied{Record: Record{At: at("2026-11-15T13:06:27.274123456Z"), Style: Klog, PID: 1, Level: 'W', Origin: "main.go"}, Text: `hm`},
		},
		"docker": {
			`{"log":"I1115 10:31:56.650149      36 a.go:1] \u003cnil\u003e \"x\"\n","stream":"stderr","time":"2026-11-15T10:31:56.7Z"}`,
			copied{Record: Record{At: at("2026-11-15T10:31:56.7Z"), Style: Klog, PID: 36, Level: 'I', Origin: "a.go"}, Text: `<nil> "x"`},
		},
		"ISO in syslog: the logger's is finer": {
			`2026-11-15T18:31:57+0800 node1 kubelet[7]: E1115 18:31:56.650149      36 a.go:1] x`,
			copied{Record: Record{At: at("2026-11-15T10:31:56.650149Z"), Style: Klog, Node: "node1", Program: "kubelet", PID: 7, Level: 'E', Origin: "a.go"}, Text: `x`},
		},
		"RFC 5424": {
			`<30>1 2026-11-15T10:31:56.5+01:00 node1 containerd 77 - [a b="\]"] time="2026-11-15T09:31:56Z" level=error msg="x"`,
			copied{Record: Record{At: at("2026-11-15T09:31:56.5Z"), Style: Logrus, Node: "node1", Program: "containerd", PID: 77, Level: 'E'}, Text: `x`},
		},
		"journald as JSON": {
			`{"__CURSOR":"s=1","_HOSTNAME":"node1","__REALTIME_TIMESTAMP":"1794739916650149","SYSLOG_IDENTIFIER":"kubelet","_PID":"36","MESSAGE":"I1115 10:31:56.650000      99 a.go:1] say \"x\""}`,
			copied{Record: Record{At: time.UnixMicro(1794739916650149).UTC(), Style: Klog, Node: "node1", Program: "kubelet", PID: 36, Level: 'I', Origin: "a.go"}, Text: `say "x"`},
		},
		"journald as JSON, bytes": {
			`{ "_COMM" : "dockerd", "__REALTIME_TIMESTAMP" : "1794739916650149", "MESSAGE" : [104, 105, 27] }`,
			copied{Record: Record{At: time.UnixMicro(1794739916650149).UTC(), Program: "dockerd"}, Text: "hi\x1b"},
		},
		"klog as JSON": {
			`{"ts":1794739916650.149,"caller":"a.go:1","msg":"x","v":0}`,
			copied{Record: Record{At: at("2026-11-15T10:51:56.650149Z"), Style: JSON}, Text: `{"ts":1794739916650.149,"caller":"a.go:1","msg":"x","v":0}`},
		},
		"audit": {
			`{"kind":"Event","requestObject":{"time":"2001-01-01T00:00:00Z"},"requestReceivedTimestamp":"2026-11-15T13:06:40.103677Z"}`,
			copied{Record: Record{At: at("2026-11-15T13:06:40.103677Z"), Style: JSON}, Text: `{"kind":"Event","requestObject":{"time":"2001-01-01T00:00:00Z"},"requestReceivedTimestamp":"2026-11-15T13:06:40.103677Z"}`},
		},
		"prose": {"  $ docker ps -a |grep", copied{Text: "$ docker ps -a |grep"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one(t, c.line+"\r\n")
			if len(got) != 1 {
				t.Fatalf("%d records", len(got))
			}
			g := got[0]
			if g.Raw != c.line {
				t.Errorf("raw %q", g.Raw)
			}
			if d := g.At.Sub(c.want.At); d.Abs() > time.Microsecond {
				t.Errorf("at %v, want %v", g.At, c.want.At)
			}
			g.Raw, g.At, c.want.At, g.Place = "", time.Time{}, time.Time{}, timeline.Place{}
			if !same(g, c.want) {
				t.Errorf("got  %+v\nwant %+v", g, c.want)
			}
		})
	}
}

// same compares records by all but their bytes, which are nil in both.
func same(a, b copied) bool {
	return a.At.Equal(b.At) && a.Style == b.Style && a.Node == b.Node && a.Program == b.Program && a.PID == b.PID && a.Level == b.Level &&
		a.Origin == b.Origin && a.Text == b.Text && a.Fields == b.Fields && a.Raw == b.Raw && a.Place == b.Place
}

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestNearlyHeaders(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"I1115 10:31:56.650149 36 kubelet.go:1601", "E9915 10:31:56.650149 36 kubelet.go:1601] x", "Dec 12 20:21:27", "Dec 42 20:21:27 a b: c",
		"ERROR", "WARNING:", "time=", `time="yesterday" level=info msg="x"`, "2026-11-15", `{"log":"x`, `{"A":`, "{", "<999999999999>1 x", "<1>1 ", `{"MESSAGE":"x"`,
		"20170-11-15T10:31:56Z x", "<30>1 2026-11-15T10:31:56Z", "May you live in interesting times", "2026-13-15 10:32:04.670 [INFO][365] a 74: x",
	} {
		for _, l := range []string{line, "\t" + line} {
			for _, r := range one(t, l) {
				if r.Style != Plain || r.Text != strings.TrimLeft(l, "\t") {
					t.Errorf("%q: %+v", l, r)
				}
			}
		}
	}
}
