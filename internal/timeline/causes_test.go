package timeline_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// TestCausesOfFailedCalls tells from one log each why the CNI calls of a pod fail, in the plugin's own
// words, whoever relays them and in whichever form.
func TestCausesOfFailedCalls(t *testing.T) {
	t.Parallel()
	const (
		unauthorized = "the plugin's credential is not accepted (unauthorized)"
		noName       = "/var/lib/calico/nodename is missing: calico-node is not running, or does not mount it"
	)
	none := func(f *timeline.File) bool { return f.Unknown == 0 && len(f.Left) == 0 }
	for file, want := range map[string]string{
		"add-exhausted.log":     "shop/db-0 failing ADD: 30 ADDs failed one after the other from 10:00:00 to 10:29:00: no address is free",
		"add-nodename.log":      "shop/db-0 failing ADD: 30 ADDs failed one after the other from 10:00:00 to 10:29:00: " + noName,
		"add-unauth.log":        "shop/db-0 failing ADD: 30 ADDs failed one after the other from 10:00:00 to 10:29:00: " + unauthorized,
		"del-ipamlock.log":      "shop/db-0 retried DEL: the DEL of sandbox 7d58f20acfae failed 30 times since 10:00:00, last at 10:29:00: the plugin waits for the IPAM lock of the node",
		"del-nobinary.log":      "shop/db-0 retried DEL: the DEL of sandbox 7d58f20acfae failed 30 times since 10:00:00, last at 10:29:00: the plugin's program is missing",
		"del-nofile.log":        "shop/db-0 retried DEL: the DEL of sandbox 7d58f20acfae failed 30 times since 10:00:00, last at 10:29:00: " + noName,
		"del-timeout.log":       "shop/db-0 retried DEL: the DEL of sandbox 7d58f20acfae failed 30 times since 10:00:00, last at 10:29:00: the plugin does not reach the API server or datastore",
		"del-x509.log":          "shop/db-0 retried DEL: the DEL of sandbox 7d58f20acfae failed 30 times since 10:00:00, last at 10:29:00: the plugin does not trust the API server's certificate",
		"both-unauth.log":       "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 30 times since 10:00:00, last at 10:29:00: " + unauthorized,
		"kubelet-unauth.log":    "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 30 times since 10:00:00, last at 10:29:00: " + unauthorized,
		"containerd-unauth.log": " retried DEL: the DEL of sandbox 0123456789ab failed 30 times since 10:00:00, last at 10:29:00: " + unauthorized,
		"crio.log":              "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 20 times since 10:00:00, last at 10:19:00: " + unauthorized,
		"klogjson-ms.log":       "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 6 times since 10:00:01, last at 10:05:01: " + unauthorized,
		"klogjson-s.log":        "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 6 times since 10:00:01, last at 10:05:01: " + unauthorized,
		"klogtext.log":          "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 6 times since 10:00:01, last at 10:05:01: " + unauthorized,
		"klogtext-tzjst.log":    "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 6 times since 10:00:01, last at 10:05:01: " + unauthorized,
		"jsonl.log":             "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 21 times since 10:11:00, last at 10:16:00: " + unauthorized,
		"list-oneline.log":      "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 21 times since 10:11:00, last at 10:16:00: " + unauthorized,
		"list-pretty.log":       "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 21 times since 10:11:00, last at 10:16:00: " + unauthorized,
		"list.yaml":             "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 21 times since 10:11:00, last at 10:16:00: " + unauthorized,
		"kubectl-events.log":    "shop/db-0 retried DEL: the DEL of sandbox 0123456789ab failed 6 times: " + unauthorized,
		"get-events-table.log":  "", // rows that are equal may be the same: none has a count or a time
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile("testdata/causes/" + file)
			if err != nil {
				t.Fatal(err)
			}
			in, err := records.Walk(fstest.MapFS{file: {Data: b, ModTime: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)}}, file)
			if err != nil {
				t.Fatal(err)
			}
			log := told(t, in)
			verdicts, _, _ := timeline.JudgeAll(log)
			var got []string
			for _, v := range verdicts {
				got = append(got, v.Pod+" "+string(v.Cause)+": "+v.Says)
			}
			if all := strings.Join(got, "\n"); all != want || !none(&log.Files()[0]) {
				t.Errorf("%s\n%+v\nwant %s", all, log.Files()[0], want)
			}
		})
	}
}

// A plugin after Calico's fails: that Calico's own part succeeded each time is no success.
func TestFailingAddsOfAChainedPlugin(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)
	l := timeline.NewLog()
	for i := range 10 {
		e := timeline.Event{Pod: "shop/db-0", Node: "w1", Sandbox: strings.Repeat(string(rune('0'+i)), 64), Source: "cni", Place: timeline.Place{Line: uint32(10*i + 1)}}
		for k, kind := range []timeline.Kind{timeline.AddBegin, timeline.EndpointWritten, timeline.AddEnd, timeline.AddFailed} {
			e.At, e.Kind = at.Add(time.Duration(i)*time.Minute+time.Duration(k)*time.Second), kind
			if e.Place.Line++; kind == timeline.AddFailed {
				e.Source, e.Note = "containerd", `plugin type="portmap" failed (add): cannot use iptables`
			}
			l.Add(e)
		}
	}
	l.SetFiles([]timeline.File{{Name: "log", Lines: 100, Zoned: true}})
	verdicts, _, _ := timeline.JudgeAll(l)
	var got []string
	for _, v := range verdicts {
		if v.Cause == timeline.FailingAdd {
			got = append(got, v.Says)
		}
	}
	if want := "10 ADDs failed one after the other from 10:00:03 to 10:09:03"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}
