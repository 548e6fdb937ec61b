package timeline_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/parse"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// judged gives the verdicts of one file.
func judged(t *testing.T, text string) []timeline.Verdict {
	t.Helper()
	l := timeline.NewLog()
	in := records.Input{Name: "pasted", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
	files, err := records.All(t.Context(), []records.Input{in}, records.Options{
		Now: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), Workers: 1, Wants: parse.Wants,
		Parser: func(_ uint16, f *timeline.File) func(*records.Record) { return parse.New(f, l.Add).Parse },
	})
	if err != nil {
		t.Fatal(err)
	}
	l.SetFiles(files)
	out, _, _ := timeline.JudgeAll(l)
	return out
}

func seed003(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("parse/testdata/seeds/003.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The incident of many pods with one address, as its author pasted it.
func TestSeed003(t *testing.T) {
	t.Parallel()
	vs := judged(t, seed003(t))
	if len(vs) != 3 {
		t.Fatalf("%d verdicts: %+v", len(vs), vs)
	}
	d := vs[0]
	if d.Cause != timeline.DuplicateAddress || d.Certainty != timeline.Proven || d.Is.String() != "192.168.91.33" || d.Count != 11 || d.Node != "slave-140" ||
		!strings.Contains(d.Says, "abcdjiand/fox-1, abcdw-prod/group-3899345145-v631u, adfadddxin/etcd2-0 and 8 others") ||
		!strings.HasSuffix(d.Says, "; the node's route leads to calia3201341d16 of adqsdxadc/store-mysql-0; 11 interfaces have a neighbour entry for it") || len(d.Lines) < 40 {
		t.Errorf("%+v", d)
	}
	if vs[1].Cause != timeline.NoGateway || vs[1].Certainty != timeline.Likely || vs[2].Cause != timeline.NoGateway || vs[2].Certainty != timeline.Proven || vs[2].Count != 6 || vs[2].Is.String() != "192.168.156.177" {
		t.Errorf("%+v", vs[1:])
	}
}

var seed003Names = regexp.MustCompile(`cali[0-9a-f]{11}|192\.168\.\d+\.\d+|slave-\d+|olef-idalijn-adcbackend|adqsdxadc|bdadservicexadc|adqsd-prod|adqsd-study|abcdw-prod|adfadddxin|abcdjiand|dlojyolgh|store-mysql-0|etcd-2|fox-1`)

// The same incident of other people: names, addresses and interfaces replaced, the same by the same.
func TestSeed003Disguised(t *testing.T) {
	t.Parallel()
	text, times := seed003(t), 1000
	if testing.Short() {
		times = 50
	}
	for seed := range uint64(times) {
		random, by := rand.New(rand.NewPCG(seed, 3)), map[string]string{}
		other := seed003Names.ReplaceAllStringFunc(text, func(s string) string {
			if by[s] == "" {
				switch s[:4] {
				case "cali":
					by[s] = fmt.Sprintf("cali%011x", random.Uint64()&(1<<44-1))
				case "192.":
					by[s] = fmt.Sprintf("10.%d.%d.%d", random.IntN(256), random.IntN(256), random.IntN(256))
				default:
					by[s] = fmt.Sprintf("%c-%x", 'a'+random.IntN(26), random.Uint32())
				}
			}
			return by[s]
		})
		vs := judged(t, other)
		if len(vs) != 3 || vs[0].Count != 11 || vs[0].Is.String() != by["192.168.91.33"] || vs[0].Node != by["slave-140"] || vs[0].Certainty != timeline.Proven ||
			!strings.Contains(vs[0].Says, by["calia3201341d16"]) || vs[2].Is.String() != by["192.168.156.177"] {
			t.Fatalf("seed %d: %+v", seed, vs)
		}
	}
}

// The incident of a block whose owners are gone: what is left of it names its handles after pods.
func TestSeed002(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("parse/testdata/seeds/002.txt")
	if err != nil {
		t.Fatal(err)
	}
	vs := judged(t, string(b))
	if len(vs) != 1 || vs[0].Cause != timeline.LegacyHandle || vs[0].Certainty != timeline.Likely || vs[0].Count != 3 ||
		!strings.HasPrefix(vs[0].Says, "IPAM has handles named after pods, as Calico 2 did: kube-system.kubernetes-dashboard-2069275773-iun7h, kube-system.prometheus-3355405412-iyww3 and lijiaob-space.etcd-0;") {
		t.Errorf("%+v", vs)
	}
}

func TestListings(t *testing.T) {
	t.Parallel()
	pod := func(name, state, ip, node string) string {
		return fmt.Sprintf("shop   %s   1/1   %s   0   20h   %s   %s\n", name, state, ip, node)
	}
	endpoint := func(name, ip, node, device string) string {
		return fmt.Sprintf("%s   k8s   shop.%s   eth0   %s/32   cali%s   k8s_ns.shop\n", node, name, ip, device)
	}
	for name, test := range map[string]struct{ text, want string }{
		"pods of two nodes":                        {pod("a", "Running", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n2"), "duplicate address proven: 10.0.0.1 is the address of 2 pods: shop/a and shop/b"},
		"pods of one node: it may be the node's":   {pod("a", "Running", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n1"), ""},
		"pods of one node, and a route":            {pod("a", "Running", "10.0.0.1", "n1") + pod("b", "Init:0/1", "10.0.0.1", "n1") + "\n10.0.0.1 dev cali0123456789a scope link\n", "duplicate address proven: 10.0.0.1 is the address of 2 pods on n1: shop/a and shop/b; the node's route leads to cali0123456789a"},
		"one of them has ended":                    {pod("a", "Completed", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n2"), ""},
		"one of them ends":                         {pod("a", "Terminating", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n2"), ""},
		"one pod in two listings":                  {pod("a", "Running", "10.0.0.1", "n1") + "\n" + pod("b", "Running", "10.0.0.1", "n2"), ""},
		"a listing that is watched":                {pod("a", "Running", "10.0.0.1", "n1") + pod("a", "Terminating", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n2"), ""},
		"a VM that migrates":                       {pod("virt-launcher-vm1-abcde", "Running", "10.0.0.1", "n1") + pod("virt-launcher-vm1-fghij", "Running", "10.0.0.1", "n2"), ""},
		"two VMs":                                  {pod("virt-launcher-vm1-abcde", "Running", "10.0.0.1", "n1") + pod("virt-launcher-vm2-fghij", "Running", "10.0.0.1", "n2"), "duplicate address proven: 10.0.0.1 is the address of 2 pods: shop/virt-launcher-vm1-abcde and shop/virt-launcher-vm2-fghij"},
		"nodes of two listings":                    {pod("a", "Running", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n1") + "\n" + pod("c", "Running", "10.0.0.1", "m1"), ""},
		"pods of two listings":                     {pod("a", "Running", "10.0.0.1", "n1") + pod("b", "Running", "10.0.0.1", "n2") + "\n" + pod("c", "Running", "10.0.0.1", "n3"), "duplicate address proven: 10.0.0.1 is the address of 2 pods: shop/a and shop/b"},
		"handles that people replaced":             {"\"handle_id\": \"k8s-pod-network.XXXXXXXX\",\n\"handle_id\": \"k8s-pod-network.deadbeef\"\n  cidr: 10.0.0.0/26\n", ""},
		"endpoints only":                           {endpoint("a", "10.0.0.1", "n1", "0123456789a") + endpoint("b", "10.0.0.1", "n1", "0123456789b"), "duplicate address likely: 10.0.0.1 is the address of 2 pods on n1: shop/a and shop/b"},
		"endpoints of one pod":                     {endpoint("a", "10.0.0.1", "n1", "0123456789a") + endpoint("a", "10.0.0.1", "n2", "0123456789a"), ""},
		"a healthy node":                           {"10.0.0.1 dev cali0123456789a scope link\n10.0.0.2 dev cali0123456789b scope link\n10.0.0.1 dev cali0123456789a lladdr 9e:83:2f:5d:c5:1e REACHABLE\n", ""},
		"neighbours of a node that fail":           {"10.0.0.7 dev cali0123456789a FAILED\n", ""},
		"a gateway that fails":                     {"169.254.1.1 dev eth0  FAILED\n", "gateway not resolved likely: 169.254.1.1 is not resolved on eth0 of a pod: it reaches nothing"},
		"BusyBox":                                  {"? (169.254.1.1) at <incomplete>  on eth0\n", "gateway not resolved likely: 169.254.1.1 is not resolved on eth0 of a pod: it reaches nothing"},
		"a gateway that answers":                   {"169.254.1.1 dev eth0 lladdr ee:ee:ee:ee:ee:ee REACHABLE\n? (169.254.1.1) at ee:ee:ee:ee:ee:ee [ether]  on eth0\n", ""},
		"a request that is answered":               {strings.Repeat("10:31:43.775985 ARP, Request who-has 169.254.1.1 tell 10.0.0.1, length 28\n", 4) + "10:31:43.775990 ARP, Reply 169.254.1.1 is-at ee:ee:ee:ee:ee:ee, length 28\n", ""},
		"a request that was lost":                  {"10:31:43.775985 ARP, Request who-has 169.254.1.1 tell 10.0.0.1, length 28\n", ""},
		"what a program logs of an interface":      {"Dec 12 20:00:18 n1 script[3]: 169.254.1.1 dev eth0  FAILED\n", ""},
		"a block of today":                         {"{\n  \"cidr\": \"10.0.0.0/26\",\n  \"attributes\": [\n    {\n      \"handle_id\": \"k8s-pod-network.1234567890123456789012345678901234567890123456789012345678901234\"\n    },\n    {\n      \"handle_id\": \"vxlan-tunnel-addr-node.example.com\"\n    }\n", ""},
		"routes and blackholes of a node are none": {"blackhole 10.0.0.0/26 proto bird\ndefault via 192.168.1.1 dev eth0\n10.0.1.0/26 via 192.168.1.2 dev tunl0 proto bird onlink\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, v := range judged(t, test.text) {
				got = append(got, fmt.Sprintf("%s %s: %s", v.Cause, v.Certainty, v.Says))
			}
			if strings.Join(got, "\n") != test.want {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

// Listings of healthy clusters give no verdict: pods on the network of their host share its address,
// those that have ended keep theirs, and between two listings addresses change hands.
func TestHealthyListings(t *testing.T) {
	t.Parallel()
	times := uint64(1000)
	if testing.Short() {
		times = 50
	}
	for seed := range times {
		random := rand.New(rand.NewPCG(seed, 4))
		text := healthyListing(random) + "\n" + healthyListing(random)
		if vs := judged(t, text); len(vs) > 0 {
			t.Fatalf("seed %d: %+v\n%s", seed, vs, text)
		}
	}
}

func healthyListing(random *rand.Rand) string {
	var pods, endpoints, routes bytes.Buffer
	free := random.Perm(250)
	nodes := []string{"n1", "n2", "n3"}
	for i := range 5 + random.IntN(40) {
		node := nodes[random.IntN(3)]
		name, state, ip := fmt.Sprintf("p-%d", i), "Running", fmt.Sprintf("10.0.%s.%d", node[1:], free[i])
		switch random.IntN(8) {
		case 0: // of the host
			fmt.Fprintf(&pods, "kube-system   host-%d   1/1   Running   0   3d4h   192.168.0.1%s   %s\n", i, node[1:], node)
			continue
		case 1:
			state = []string{"Completed", "Terminating", "Error", "Evicted", "OOMKilled"}[random.IntN(5)]
			ip = fmt.Sprintf("10.0.%s.%d", node[1:], free[random.IntN(45)]) // another has it now
		default:
			fmt.Fprintf(&endpoints, "%s   k8s   shop.%s   eth0   %s/32   cali%011x   k8s_ns.shop\n", node, name, ip, i)
			fmt.Fprintf(&routes, "%s dev cali%011x scope link\n%s dev cali%011x lladdr 0a:00:00:00:00:01 %s\n", ip, i, ip, i, []string{"STALE", "REACHABLE", "PERMANENT"}[random.IntN(3)])
		}
		fmt.Fprintf(&pods, "shop   %s   1/1   %s   %d   20h   %s   %s\n", name, state, random.IntN(3), ip, node)
	}
	parts := []string{pods.String(), endpoints.String(), routes.String()}
	random.Shuffle(3, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return strings.Join(slices.DeleteFunc(parts, func(string) bool { return random.IntN(4) == 0 }), "\n")
}

// A stranger's file with one address a hundred thousand times takes no longer than any other.
func TestHostileListing(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "n1   k8s   shop.p-%d   eth0   10.0.0.1/32   cali%011x   k8s_ns.shop\n", i, i)
	}
	for i := range 50_000 {
		fmt.Fprintf(&b, "10.0.0.1 dev cali%011x scope link\n10.0.0.1 dev cali%011x lladdr 0a:00:00:00:00:01 STALE\n169.254.1.1 dev eth0 FAILED\n", i, i)
	}
	if vs := judged(t, b.String()); len(vs) != 2 || vs[0].Count != 50_000 || len(vs[0].Says) > 1000 { // quadratic, it would take minutes
		t.Errorf("%d verdicts", len(vs))
	}
}
