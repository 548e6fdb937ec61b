package proven

import (
	"strings"
	"testing"
)

// tried are results as make matrix writes them.
const tried = `# a comment
v3.31.0	v1.34.4	debian	kdd	cluster	pass	abc	2026-11-17	100
v3.31.0	v1.34.4	debian	kdd	decoders	pass	abc	2026-11-17	100
v3.31.0	v1.34.4	debian	kdd	repair	pass	abc	2026-11-17	100
v3.31.0	v1.34.4	debian	etcd	cluster	pass	abc	2026-11-17	100
v3.31.0	v1.34.4	debian	etcd	decoders	pass	abc	2026-11-17	100
v3.31.0	v1.34.4	debian	etcd	repair	pass	abc	2026-11-17	100
v3.30.1	v1.34.4	debian	kdd	cluster	pass	abc	2026-11-17	100
v3.30.1	v1.34.4	debian	kdd	decoders	pass	abc	2026-11-17	100
v3.30.1	v1.34.4	debian	kdd	repair	pass	abc	2026-11-16	100
v3.30.1	v1.34.4	debian	kdd	repair	fail	abc	2026-11-17	100
v3.26.0	v1.34.4	debian	kdd	cluster	pass	abc	2026-11-17	100
v3.26.0	v1.34.4	debian	kdd	decoders	pass	abc	2026-11-17	100
v3.26.0	v1.34.4	debian	kdd	repair	pass	abc	2026-11-17	100
v3.22.0	v1.34.4	debian	kdd	cluster	pass	abc	2026-11-17	100
v3.22.0	v1.34.4	debian	kdd	decoders	pass	abc	2026-11-17	100
v3.22.0	v1.34.4	debian	kdd	repair	refused: its blocks have no sequence numbers	abc	2026-11-17	0
`

func TestVersionsNeedEverySuite(t *testing.T) {
	t.Parallel()
	all, err := parseResults(tried)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(versionsOf(all, "kdd"), " "); got != "v3.31.0 v3.26.0" { // the last result counts
		t.Errorf("kdd: %s", got)
	}
	if got := strings.Join(versionsOf(all, "etcd"), " "); got != "v3.31.0" {
		t.Errorf("etcd: %s", got)
	}
	mixed, err := parseResults(strings.ReplaceAll(strings.ReplaceAll(tried, "etcd\tcluster", "etcd\tother"), "v1.34.4\tdebian\tkdd\tcluster", "v1.36.3\tdebian\tkdd\tcluster"))
	if got := versionsOf(mixed, "kdd"); err != nil || len(got) != 0 { // no cluster passed all of them
		t.Errorf("%q, %v", got, err)
	}
	if _, err := parseResults("v3.31.0\tv1.34.4\n"); err == nil {
		t.Error("a short line is read")
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	all, err := parseResults(tried)
	if err != nil {
		t.Fatal(err)
	}
	same := Schemas{Lines: Tested("v3.31.0")}
	for name, test := range map[string]struct {
		c             Cluster
		refused, know string // parts of them
		accepted      bool
	}{
		"proven":                        {c: Cluster{Calico: "v3.31.0", Datastore: "kdd"}},
		"proven, without v":             {c: Cluster{Calico: "3.31.0", Datastore: "etcd"}},
		"a vendor's":                    {c: Cluster{Calico: "v3.31.0-build20251016", Datastore: "kdd"}, know: "built by Rancher"},
		"a suffix nobody knows":         {c: Cluster{Calico: "v3.31.0-ours", Datastore: "kdd"}, refused: "Calico is v3.31.0-ours"},
		"another patch":                 {c: Cluster{Calico: "v3.31.3", Datastore: "kdd", Schemas: same}, know: "tested with v3.31.0, and the schemas"},
		"another patch of a vendor":     {c: Cluster{Calico: "v3.31.3-rancher2", Datastore: "kdd", Schemas: same}, know: "Calico is v3.31.3-rancher2"},
		"its schemas were not read":     {c: Cluster{Calico: "v3.31.3", Datastore: "kdd", Schemas: Schemas{Unread: "forbidden"}}, refused: "were not read: forbidden"},
		"nothing was read of them":      {c: Cluster{Calico: "v3.31.3", Datastore: "kdd"}, refused: "has no schema"},
		"two suffixes":                  {c: Cluster{Calico: "v3.31.0-build20251016-amd64", Datastore: "kdd"}, know: "built by Rancher"},
		"a patch of what does not work": {c: Cluster{Calico: "v3.22.5", Datastore: "kdd", Accepted: "v3.22.5"}, refused: "no sequence numbers"},
		"a collector that harms":        {c: Cluster{Calico: "v3.21.4", Datastore: "etcd", Accepted: "v3.21.4"}, refused: "garbage collector"},
		"a fork that is accepted":       {c: Cluster{Calico: "v3.31.0-ours", Datastore: "kdd", Accepted: "v3.31.0-ours"}, know: "accepted", accepted: true},
		"etcd shows no schemas":         {c: Cluster{Calico: "v3.31.3", Datastore: "etcd", Schemas: same}, refused: "etcd has no schemas"},
		"a minor whose repair failed":   {c: Cluster{Calico: "v3.30.1", Datastore: "kdd", Schemas: same}, refused: "Calico is v3.30.1"},
		"proven on the other store":     {c: Cluster{Calico: "v3.26.0", Datastore: "etcd"}, refused: "Calico is v3.26.0"},
		"accepted":                      {c: Cluster{Calico: "v3.28.1", Datastore: "kdd", Accepted: "v3.28.1"}, know: "accepted", accepted: true},
		"another one was accepted":      {c: Cluster{Calico: "v3.28.2", Datastore: "kdd", Accepted: "v3.28.1"}, refused: "v3.28.2"},
		"accepted, and need not be":     {c: Cluster{Calico: "v3.31.0", Datastore: "kdd", Accepted: "v3.31.0"}},
		"known not to work":             {c: Cluster{Calico: "v3.22.0", Datastore: "kdd", Accepted: "v3.22.0"}, refused: "no sequence numbers"},
		"native v3":                     {c: Cluster{Calico: "v3.32.1", Datastore: "kdd", Group: "projectcalico.org/v3", Accepted: "v3.32.1"}, refused: "projectcalico.org/v3"},
		"not known":                     {c: Cluster{Datastore: "kdd"}, refused: "not known"},
		"a datastore that is not known": {c: Cluster{Calico: "v3.31.0"}, refused: "v3.31.0"},
	} {
		v := test.c.judge(all)
		if (v.Refused == "") != (test.refused == "") || !strings.Contains(v.Refused, test.refused) || (v.Know == "") != (test.know == "") || !strings.Contains(v.Know, test.know) || v.Accepted != test.accepted {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// What is recorded was run: with a commit, and it took time.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, r := range results {
		if r.Outcome == "pass" && (strings.Trim(r.Commit, "0") == "" || r.Seconds == 0) {
			t.Errorf("%+v", r)
		}
	}
}

func TestMixed(t *testing.T) {
	t.Parallel()
	for version, mixed := range map[string]bool{
		"v3.31.0": false, "3.31.0": false, "v3.31.0-build20251016": false,
		"v3.30.1": true, "v3.31.1": true, "": true, "master": true,
	} {
		if got := Mixed("v3.31.0", "calico-node", version); (got != "") != mixed {
			t.Errorf("%q: %q", version, got)
		}
	}
	if got := Mixed("our-fork", "calico-node", "our-fork"); got != "" {
		t.Error(got)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("v3.31.0-build20251016")
	f.Fuzz(func(t *testing.T, version string) {
		if plain, _ := Plain(version); plain != "" && !SameMinor(plain, version) {
			t.Errorf("%q: %q", version, plain)
		}
	})
}
