package guard

import (
	"strings"
	"testing"
	"time"
)

func of(container string, seq uint64, s State) *Owner {
	return &Owner{Key: Key{"net", container, "eth0"}, Namespace: "ns", Pod: "web-0", Seq: seq, State: s}
}

func call(v Verb) Call {
	return Call{Verb: v, Network: "net", Container: "a", IfName: "eth0", Namespace: "ns", Pod: "web-0"}
}

// inEnforce is the table of docs/guard.md. In observe each of them is passed on.
var inEnforce = map[string]struct {
	verb Verb
	k    Known
	want Decision
}{
	"a new attachment":              {Add, Known{Newest: of("b", 3, Added)}, Decision{Rule: 1, Forward: true}},
	"added again":                   {Add, Known{Own: of("a", 2, Added)}, Decision{Rule: 3, Forward: true}},
	"the newest":                    {Del, Known{Own: of("a", 2, Added), Newest: of("a", 2, Added), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"a failed one":                  {Del, Known{Own: of("a", 2, Failed), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"newer than the rest":           {Del, Known{Own: of("a", 4, Added), Newest: of("b", 3, Added), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"late, by container":            {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Added), Keyed: ByContainer}, Decision{Rule: 5, Late: true, Forward: true, Confirm: true}},
	"late, by name":                 {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Added), Keyed: ByName}, Decision{Rule: 5, Late: true, Inside: true, Queue: true, Confirm: true}},
	"late, by both":                 {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Added), Keyed: ByBoth}, Decision{Rule: 5, Late: true, Inside: true, Unnamed: true, Queue: true, Confirm: true}},
	"late, not known":               {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Added), Keyed: NotKnown}, Decision{Rule: 5, Late: true, Forward: true, Confirm: true}},
	"late and failed":               {Del, Known{Own: of("a", 2, Failed), Newest: of("b", 3, Added), Keyed: ByName}, Decision{Rule: 5, Late: true, Inside: true, Queue: true, Confirm: true}},
	"late and repeated":             {Del, Known{Own: of("a", 2, Deleted), Newest: of("b", 3, Added), Keyed: ByBoth}, Decision{Rule: 5, Late: true, Inside: true, Unnamed: true, Confirm: true}},
	"the newer one failed":          {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Failed), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"the newer one is deleted":      {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Deleted), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"unknown":                       {Del, Known{Newest: of("b", 3, Added), Keyed: ByName}, Decision{Rule: 6, Forward: true}},
	"another's record":              {Del, Known{Own: of("c", 2, Added), Newest: of("b", 3, Added), Keyed: ByName}, Decision{Rule: 6, Forward: true}},
	"while its ADD runs":            {Del, Known{Own: of("a", 2, Adding), Newest: of("a", 2, Adding), Running: true, Keyed: ByName}, Decision{Rule: 7, Wait: 5 * time.Second, Forward: true, Again: 150 * time.Second}},
	"its ADD died":                  {Del, Known{Own: of("a", 2, Adding), Keyed: ByName}, Decision{Rule: 8, Forward: true, Again: 150 * time.Second}},
	"while another's ADD runs":      {Del, Known{Own: of("a", 2, Added), Newest: of("b", 3, Adding), Keyed: ByName}, Decision{Rule: 9, Late: true, Inside: true, Queue: true, Confirm: true}},
	"late, and its own ADD runs":    {Del, Known{Own: of("a", 2, Adding), Newest: of("b", 3, Added), Running: true, Keyed: ByName}, Decision{Rule: 5, Late: true, Wait: 5 * time.Second, Inside: true, Queue: true, Confirm: true, Again: 150 * time.Second}},
	"repeated":                      {Del, Known{Own: of("a", 2, Deleted), Keyed: ByName}, Decision{Rule: 10, Forward: true}},
	"a check":                       {Check, Known{}, Decision{Rule: 13, Forward: true}},
	"a status":                      {Status, Known{}, Decision{Rule: 13, Forward: true}},
	"a collection":                  {GC, Known{}, Decision{Rule: 14, Forward: true}},
	"a verb of the future":          {"DANCE", Known{Newest: of("b", 3, Added)}, Decision{Forward: true}},
	"added again, and that failed":  {Del, Known{Own: of("a", 2, Added), Newest: again(of("b", 3, Failed)), Keyed: ByName}, Decision{Rule: 5, Late: true, Inside: true, Queue: true, Confirm: true}},
	"an owner of another name":      {Del, Known{Own: of("a", 2, Added), Newest: named(of("b", 3, Added), "web-1"), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
	"nobody has a name without pod": {Del, Known{Own: named(of("a", 2, Added), ""), Newest: named(of("b", 3, Added), ""), Keyed: ByName}, Decision{Rule: 4, Forward: true}},
}

func again(o *Owner) *Owner             { o.Again = true; return o }
func named(o *Owner, pod string) *Owner { o.Pod = pod; return o }

func TestDecide(t *testing.T) {
	for name, test := range inEnforce {
		test.k.Mode = Enforce
		got := Decide(call(test.verb), test.k)
		if got.Says == "" {
			t.Errorf("%s: nothing is said", name)
		}
		if got.Says = ""; got != test.want {
			t.Errorf("%s:\n%+v, not\n%+v", name, got, test.want)
		}
		for _, m := range []Mode{Observe, "", "garbage"} {
			test.k.Mode = m
			got, want := Decide(call(test.verb), test.k), Decision{Rule: test.want.Rule, Late: test.want.Late, Confirm: test.want.Confirm, Forward: true}
			if got.Says = ""; got != want {
				t.Errorf("%s in %q:\n%+v, not\n%+v", name, m, got, want)
			}
		}
	}
}

func TestClean(t *testing.T) {
	failed := Known{Own: of("a", 2, Failed), Keyed: ByName, Mode: Enforce}
	late := failed
	late.Newest = of("b", 3, Added)
	twice := failed
	twice.Own = again(of("a", 2, Failed))
	observed := failed
	observed.Mode = Observe
	for name, test := range map[string]struct {
		k    Known
		want Decision
	}{
		"failed":                    {failed, Decision{Rule: 2, Forward: true, Queue: true}},
		"failed and late":           {late, Decision{Rule: 2, Late: true, Inside: true, Confirm: true, Queue: true}},
		"may have been added":       {twice, Decision{Rule: 2}},
		"not on record":             {Known{Mode: Enforce}, Decision{Rule: 2}},
		"observed, nothing is done": {observed, Decision{Rule: 2}},
	} {
		got := Clean(call(Add), test.k)
		if got.Says = ""; got != test.want {
			t.Errorf("%s:\n%+v, not\n%+v", name, got, test.want)
		}
	}
}

func TestReplay(t *testing.T) {
	for name, test := range map[string]struct {
		k    Known
		want Decision
	}{
		"nobody has the name":      {Known{Own: of("a", 2, Deleted)}, Decision{Rule: 10, Forward: true}},
		"still late":               {Known{Own: of("a", 2, Deleted), Newest: of("b", 3, Added)}, Decision{Rule: 5, Late: true, Inside: true, Confirm: true, Queue: true}},
		"unknown":                  {Known{}, Decision{Rule: 6, Forward: true}},
		"unknown, and it is owned": {Known{Newest: of("b", 3, Added)}, Decision{Rule: 6, Queue: true}},
		"its ADD runs":             {Known{Own: of("a", 2, Adding), Running: true}, Decision{Rule: 7, Queue: true}},
		"its ADD died":             {Known{Own: of("a", 2, Adding)}, Decision{Rule: 8, Forward: true}},
	} {
		for _, m := range []Mode{Enforce, Observe} {
			test.k.Mode, test.k.Keyed = m, ByName
			got := Replay(call(Del), test.k)
			if got.Says = ""; got != test.want {
				t.Errorf("%s in %s:\n%+v, not\n%+v", name, m, got, test.want)
			}
		}
	}
}

func TestKeyed(t *testing.T) {
	for _, test := range []struct {
		plugin, ipam, version string
		want                  Keying
	}{
		{"calico", "calico-ipam", "v1.5.0", ByName}, // the lab's latedel says so
		{"calico", "host-local", "v1.5.0", ByName},
		{"calico", "calico-ipam", "v1.11.1", ByName},
		{"calico", "calico-ipam", "v1.11.2-rc1", ByName},
		{"calico", "calico-ipam", "v1.11.2", ByBoth},
		{"calico", "calico-ipam", "v1.11.10", ByBoth},
		{"calico", "calico-ipam", "v2.0.0", ByBoth},
		{"calico", "calico-ipam", "v3.31.0\n", ByBoth},
		{"calico", "calico-ipam", "v3.33.0-0.dev-12-gabcdef", ByBoth},
		{"calico", "host-local", "v3.31.0", ByContainer},
		{"calico", "calico-ipam", "v4.0.0", ByBoth},
		{"calico", "calico-ipam", "v0.9.0", ByBoth},
		{"calico", "calico-ipam", "", ByBoth},
		{"calico", "calico-ipam", "master", ByBoth},
		{"calico", "calico-ipam", "v3.31", ByBoth},
		{"calico", "calico-ipam", "v3.-1.0", ByBoth},
		{"calico", "calico-ipam", "v3.99999999999999999999.0", ByBoth},
		{"calico", "host-local", "", NotKnown},
		{"calico", "host-local", "v4.0.0", NotKnown},
		{"calico", "", "", NotKnown},
		{"calico", "", "v3.31.0", ByContainer}, // policy only
		{"calico", "?", "v3.31.0", NotKnown},
		{"calico", "?", "v1.5.0", ByName},
		{"bridge", "host-local", "v1.5.1", NotKnown},
		{"", "", "", NotKnown},
	} {
		if got := Keyed(test.plugin, test.ipam, test.version); got != test.want {
			t.Errorf("%s with %s, %q: by %s, not by %s", test.plugin, test.ipam, test.version, got, test.want)
		}
		certain := test.plugin == "calico" && KnownVersion(test.version) && test.ipam != UnknownIPAM
		doubt := Doubt(test.plugin, test.ipam, test.version)
		if certain != (doubt == "") || test.want == NotKnown && !strings.HasSuffix(doubt, "late DELs are passed on") {
			t.Errorf("%s with %s, %q: %q", test.plugin, test.ipam, test.version, doubt)
		}
	}
}

// A guard that is to enforce either protects, or says why it may not.
func TestUnprotected(t *testing.T) {
	for _, test := range []struct {
		r    Report
		want string
	}{
		{Report{Wanted: Enforce, Mode: Enforce}, ""},
		{Report{Wanted: Enforce, Mode: Enforce, Doubt: "no version"}, "no version"},
		{Report{Wanted: Enforce, Mode: Observe, Why: "it was reverted", Doubt: "no version"}, "it was reverted"},
		{Report{Wanted: Enforce}, "the CNI configuration does not name the guard"},
		{Report{Wanted: Observe, Mode: Observe, Doubt: "no version"}, ""},
		{Report{Wanted: Off}, ""},
	} {
		if got := test.r.Unprotected(); got != test.want {
			t.Errorf("%+v: %q, not %q", test.r, got, test.want)
		}
	}
}

func FuzzKeyed(f *testing.F) {
	f.Add("v3.31.0")
	f.Add("v1.11.2-rc1")
	f.Fuzz(func(t *testing.T, version string) {
		if k := Keyed("calico", "calico-ipam", version); k == ByContainer {
			t.Errorf("%q releases by name too", version)
		}
	})
}
