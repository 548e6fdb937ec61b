package parse

import (
	"encoding/json"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/eventlog"
	"plumbline.dev/plumbline/internal/guard"
)

// The guard's entries become events. A late DEL that the guard stopped is not a successful DEL.
func TestGuardLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rec, err := eventlog.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 15, 10, 31, 56, 0, time.UTC)
	entry := func(verb guard.Verb, id string, change func(*guard.Event)) eventlog.Entry {
		at = at.Add(10 * time.Second)
		e := guard.Event{Key: guard.Key{Network: "k8s-pod-network", Container: id, IfName: "eth0"}, Namespace: "shop", Pod: "db-0", UID: uid, Delegate: "calico", Mode: guard.Enforce, Called: true}
		change(&e)
		row, err := json.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		return eventlog.Entry{At: at, By: "guard", Of: "cni", What: string(verb), Name: e.Subject(), Now: row, Note: e.Note()}
	}
	if err := rec.Append(
		entry(guard.Add, idA, func(e *guard.Event) {
			e.Rule, e.IPs, e.Device = 1, []netip.Prefix{netip.MustParsePrefix("10.244.8.34/32")}, "cali1"
		}),
		entry(guard.Add, idB, func(e *guard.Event) { e.Rule, e.Code, e.Error = 1, 1, "no address is free" }),
		entry(guard.Del, idA, func(e *guard.Event) {
			e.Rule, e.Late, e.Called, e.Says = 5, true, false, "late: it belongs to ADD 1"
		}),
		entry(guard.Del, idA, func(e *guard.Event) { e.Rule, e.Late, e.Called, e.Code, e.Error = 5, true, false, 1, "unauthorized" }),
		entry(guard.Del, idB, func(e *guard.Event) {
			e.Rule, e.Late, e.Says, e.Lost = 5, true, "late: it belongs to ADD 2", []string{"eth0 is not there"}
		}),
		entry(guard.Replayed, idA, func(e *guard.Event) { e.Code, e.Error = 1, "unauthorized" }),
		entry(guard.Replayed, idA, func(*guard.Event) {}),
		entry(guard.Status, idB, func(e *guard.Event) { e.Rule = 13 }),
		eventlog.Entry{At: at, By: "guard", Of: "cni", What: "DEL", Name: "x", Now: json.RawMessage(`[1]`)},
		eventlog.Entry{At: at, By: "stranger", Of: "cni", What: "DEL", Name: "x", Now: json.RawMessage(`{"container":"` + idA + `"}`)},
	); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dir + "/00000000.events")
	if err != nil {
		t.Fatal(err)
	}
	of := " pod=shop/db-0 uid=07cbebe7-7fb sandbox="
	compare(t, []toldCase{{"whole", string(b), []string{
		"eventlog: ADD" + of + "340b1c7a1a90 address=10.244.8.34",
		"eventlog: ADD failed" + of + "d4186da55842 note=no address is free",
		"eventlog: late DEL stopped by the guard" + of + "340b1c7a1a90 note=late: it belongs to ADD 1",
		"eventlog: DEL failed" + of + "340b1c7a1a90 note=unauthorized",
		"eventlog: DEL" + of + "d4186da55842 note=late: it belongs to ADD 2; the newer sandbox lost: eth0 is not there",
		"eventlog: DEL" + of + "340b1c7a1a90",
	}}, {"a line that was changed", strings.Replace(strings.SplitAfter(string(b), "\n")[0], "10.244.8.34", "10.244.8.99", 1), nil}})
}
