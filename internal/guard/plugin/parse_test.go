package plugin

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

func TestConfigurationIsVerbatim(t *testing.T) {
	t.Parallel()
	e, err := parseEntry([]byte(`{"name":"n","type":"plumbline-cni","capabilities":{"a":true},"plumblineX":1,"args":{"b": 2},
		"delegate":{"type":"calico","name":"other","big":123456789012345678901234567890,"sp" : [1 , 2],"args":{},"<k>":"\u003c"},"cniVersion":"0.3.1"}`))
	must(t, err)
	want := `{"type":"calico","big":123456789012345678901234567890,"sp":[1 , 2],"\u003ck\u003e":"\u003c","name":"n","args":{"b": 2},"cniVersion":"0.3.1"}`
	if got := string(e.configuration()); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if got := string(e.configuration("args", "name")); bytes.Contains([]byte(got), []byte("args")) || bytes.Contains([]byte(got), []byte("name")) {
		t.Errorf("%s", got)
	}
}

func TestAlive(t *testing.T) {
	t.Parallel()
	start, err := startOf("/proc", os.Getpid())
	must(t, err)
	if !alive("/proc", os.Getpid(), start) || alive("/proc", os.Getpid(), start+1) || alive("/proc", 0, 0) {
		t.Error("who lives is not told from who does not")
	}
}

func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{"name":"n","delegate":{"type":"calico","a":1},"x":[{}]}`))
	f.Add([]byte(`{"delegate":{"type":"a","type":"b"},"delegate":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := parseEntry(b)
		if err != nil {
			return
		}
		var whole map[string]json.RawMessage
		if err := json.Unmarshal(e.configuration(), &whole); err != nil {
			t.Fatalf("%s: %v", e.configuration(), err)
		}
		if err := properType(e.kind); err != nil {
			t.Fatal(err)
		}
		_ = e.ipam()
	})
}

func FuzzResult(f *testing.F) {
	f.Add([]byte(okResult))
	f.Add([]byte(`{"ips":[{"address":"10.0.0.1/32","interface":-1},{"interface":9}],"interfaces":[null],"routes":[{"dst":"::/0"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseResult(b)
		if err != nil {
			return
		}
		for _, ip := range r.addresses() {
			if !ip.IsValid() {
				t.Fatal("an address that is none")
			}
		}
		_, _ = r.device(), r.leads(true)
		_, _ = wrong(&answer{out: b, code: 1}), delegateError(&answer{out: b})
	})
}

func FuzzCall(f *testing.F) {
	f.Add("K8S_POD_NAME=a;K8S_POD_NAMESPACE=b;;=;K8S_POD_UID")
	f.Fuzz(func(t *testing.T, args string) {
		if c := parseCall([]string{"CNI_ARGS=" + args, "CNI_COMMAND=DEL"}, "n"); c.Verb != guard.Del || c.Network != "n" {
			t.Fatalf("%+v", c)
		}
	})
}
