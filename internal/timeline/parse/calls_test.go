package parse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestBounded sends more calls than are kept, of both eras, none of which ends.
func TestBounded(t *testing.T) {
	t.Parallel()
	begun := 0
	teller := New(&timeline.File{}, func(e timeline.Event) {
		if e.Kind == timeline.DelBegin {
			begun++
		}
	})
	at := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	const calls = 3 * maxCalls
	for i := range calls {
		sandbox := fmt.Sprintf("%064x", i)
		teller.Parse(&records.Record{Style: records.Bracket, At: at, PID: i, Text: fmt.Appendf(nil, "Cleaning up netns ContainerID=%q", sandbox)})
		teller.Parse(&records.Record{Style: records.Logrus, At: at, PID: i % 3, Node: fmt.Sprint(i % 5), Text: []byte("Configured environment: [CNI_COMMAND=DEL CNI_CONTAINERID=" + sandbox + "ff]")})
		teller.Parse(&records.Record{Style: records.Bracket, At: at, Node: sandbox, Text: []byte("Auto-assign 1 ipv4, 0 ipv6 addrs for host '" + sandbox + "'")})
		at = at.Add(time.Millisecond)
	}
	if begun != 2*calls {
		t.Errorf("%d of %d calls have an event", begun, 2*calls)
	}
	c := &teller.cni
	under := 0
	for _, list := range c.underWay {
		under += len(list)
	}
	if len(c.all) > maxCalls || len(c.bySandbox) > maxCalls || len(c.byProcess) > 16*maxCalls || len(c.nodes) > maxCalls || under > 15*maxUnderWay {
		t.Errorf("remembers %d calls, %d sandboxes, %d processes, %d nodes and %d under way", len(c.all), len(c.bySandbox), len(c.byProcess), len(c.nodes), under)
	}
}

// TestForgotten: the oldest calls are dropped first.
func TestForgotten(t *testing.T) {
	t.Parallel()
	var c calls
	r := &records.Record{Style: records.Bracket}
	for i := range maxCalls + 1 {
		r.PID = i + 1
		c.today(r, caller{sandbox: fmt.Sprint(i), pod: "shop/db-0"})
	}
	r.PID = 0
	if k := c.today(r, caller{sandbox: "0"}); k.pod != "" {
		t.Errorf("sandbox 0 is still known: %+v", k)
	}
	if k := c.today(r, caller{sandbox: "4000"}); k.pod != "shop/db-0" {
		t.Error("sandbox 4000 is forgotten")
	}
}

// FuzzCalico feeds lines to all readers of Calico's messages.
func FuzzCalico(f *testing.F) {
	for _, name := range []string{"seed000-cni-v1.5.0.log", "calico-cni-v3.31.0-late-del.log", "calico-kube-controllers-v3.31.0.log", "calico-felix-v3.31.0.log"} {
		for line := range strings.Lines(string(recorded(f, name))) {
			if _, text, ok := strings.Cut(line, ": "); ok {
				f.Add([]byte(text), []byte(text), 1, uint8(records.Bracket))
				f.Add([]byte(text), []byte(text), 1, uint8(records.Logrus))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, fields []byte, pid int, style uint8) {
		teller := New(&timeline.File{}, func(e timeline.Event) {
			if len(e.Note) > timeline.MaxNote || strings.ContainsAny(e.Pod+e.Sandbox+e.Object+e.Device, "\x1b<\"\n ") {
				t.Errorf("told of %+v", e)
			}
		})
		r := records.Record{Style: records.Style(style % 5), Text: text, Fields: fields, Raw: text, PID: pid}
		for range 2 {
			if calicos(&r) {
				teller.Parse(&r)
			}
			r.PID++
		}
	})
}
