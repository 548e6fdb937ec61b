package plugin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plumbline.dev/plumbline/internal/guard"
)

// Whatever a delegate says, in any version and on any verb, the caller gets it as it is.
func TestBytesPassUnchanged(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 40_000)
	for name, a := range map[string]act{
		"0.3.1":   {Out: okResult},
		"0.4.0":   {Out: "\n {\"cniVersion\":\"0.4.0\",\"ips\":[]}\t\n\n", Err: "a word\n"},
		"1.0.0":   {Out: `{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.7/32"}],"x":1e400}`},
		"1.1.0":   {Out: `{"cniVersion":"1.1.0","interfaces":[{"name":"eth0","mtu":9000,"socketPath":""}]}`},
		"error":   {Out: `{"cniVersion":"1.0.0","code":11,"msg":"later","details":"é\u0000"}`, Code: 1, Err: "why\n"},
		"code":    {Out: `{"code":7}`, Code: 42},
		"garbage": {Raw: []byte("\xff\xfe{{ not JSON"), Err: "\x00\x01"},
		"nothing": {},
		"long":    {Out: long, Err: "x"},
		"dead":    {Out: "half a res", Die: int(syscall.SIGTERM)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, m := range []guard.Mode{guard.Observe, guard.Enforce, guard.Off} {
				s := newStand(t).mode(m)
				s.conf["cniVersion"] = "1.1.0"
				s.acts = map[string]act{"ADD": a, "DEL": a, "CHECK": a, "STATUS": a, "GC": a, "VERSION": {Out: `{"supportedVersions":["1.1.0"]}`}}
				want := said{out: string(a.Raw) + a.Out, err: a.Err, code: a.Code}
				if a.Die != 0 {
					want.code = 128 + a.Die
				}
				for _, verb := range []string{"ADD", "DEL", "STATUS", "GC", "CHECK"} {
					got := s.call(verb, "c1")
					if verb == "CHECK" && m == guard.Enforce && want.code == 0 {
						continue // it sees for itself
					}
					if got.out != want.out || got.err != want.err || got.code != want.code {
						t.Errorf("%s %s: %.200q %.200q %d, want %.200q %.200q %d", m, verb, got.out, got.err, got.code, want.out, want.err, want.code)
					}
				}
			}
		})
	}
}

// The delegate is given what it would have been given without us.
func TestDelegateIsGivenItsOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.conf["prevResult"] = json.RawMessage(`{"ips":[ ]}`)
	s.conf["runtimeConfig"] = json.RawMessage(`{"portMappings":[{"hostPort":12345678901234567890}]}`)
	s.conf["capabilities"] = map[string]bool{"portMappings": true}
	s.conf["cni.dev/valid-attachments"] = []string{}
	if got := s.call("ADD", "c1", "TOKEN=t"); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	h := s.heard()[0]
	var conf map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(h.Stdin), &conf))
	for name, want := range map[string]string{
		"type": `"scripted"`, "name": `"net"`, "cniVersion": `"0.3.1"`, "prevResult": `{"ips":[]}`, "ipam": `{"type":"calico-ipam"}`,
		"runtimeConfig": `{"portMappings":[{"hostPort":12345678901234567890}]}`, "cni.dev/valid-attachments": "[]",
	} {
		if string(conf[name]) != want {
			t.Errorf("%s: %s, want %s", name, conf[name], want)
		}
	}
	for _, name := range []string{"delegate", "capabilities"} {
		if conf[name] != nil {
			t.Errorf("it was given %s: %s", name, conf[name])
		}
	}
	for _, v := range []string{"CNI_COMMAND=ADD", "CNI_CONTAINERID=c1", "CNI_IFNAME=eth0", "CNI_NETNS=/no/such/ns", "TOKEN=t", "CNI_PATH=/nowhere:" + s.bin} {
		if !slices.Contains(h.Env, v) {
			t.Errorf("its environment has no %s", v)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]string{
		"empty": "", "not JSON": "{", "no delegate": `{"cniVersion":"1.0.0","name":"n"}`, "delegate is text": `{"delegate":"calico"}`, "a list": "[]", "null": "null",
		"no type": `{"delegate":{}}`, "a path": `{"delegate":{"type":"../../bin/sh"}}`, "parent": `{"delegate":{"type":".."}}`, "itself": `{"delegate":{"type":"plumbline-cni"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			cmd := s.command("ADD", "c1")
			cmd.Stdin = strings.NewReader(config)
			got := s.run(cmd)
			var e struct {
				Version string `json:"cniVersion"`
				Code    int
				Msg     string
			}
			if err := json.Unmarshal([]byte(got.out), &e); err != nil || e.Code != badConfiguration || e.Msg == "" || e.Version == "" || got.code != 1 {
				t.Errorf("%+v: %v", got, err)
			}
		})
	}
}

// The version that libcni asks for, without an entry, is the delegate's.
func TestVersion(t *testing.T) {
	t.Parallel()
	s := newStand(t).mode(guard.Observe)
	ask := func() said {
		cmd := s.command("VERSION", "dummy", "CNI_PATH=dummy")
		cmd.Stdin = strings.NewReader(`{"cniVersion":"0.4.0","script":{"acts":{"VERSION":{"out":"{\"supportedVersions\":[\"0.4.0\"]} "}}}}`)
		return s.run(cmd)
	}
	if got := ask(); got.out != `{"supportedVersions":["0.4.0"]} ` || got.code != 0 {
		t.Errorf("calico beside us: %+v", got)
	}
	must(t, os.Remove(filepath.Join(s.bin, "calico")))
	if got := ask(); !strings.Contains(got.out, `"1.1.0"`) || !strings.Contains(got.out, `"cniVersion":"0.4.0"`) || got.code != 0 {
		t.Errorf("nobody beside us: %+v", got)
	}
	must(t, os.WriteFile(filepath.Join(s.dir, guard.KindFile), []byte("scripted\n"), 0o600))
	if got := ask(); got.out != `{"supportedVersions":["0.4.0"]} ` || got.code != 0 {
		t.Errorf("the plugin of this node: %+v", got)
	}
}

// GC goes to a delegate that knows it, and to no other.
func TestGC(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.acts = map[string]act{"GC": {Out: "collected"}, "VERSION": {Out: `{"supportedVersions":["1.0.0"]}`}}
	if got := s.call("GC", ""); got.out != "" || got.code != 0 || s.verbs() != "VERSION" {
		t.Errorf("%+v, %s", got, s.verbs())
	}
	s.acts["VERSION"] = act{Out: `{"supportedVersions":["1.0.0","1.1.0"]}`}
	if got := s.call("GC", ""); got.out != "collected" || got.code != 0 {
		t.Errorf("%+v", got)
	}
}

// The guard daemon asks whether this program runs, and not the plugin that it wraps.
func TestVersionOfTheProgramAlone(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.acts = map[string]act{"VERSION": {Out: "asked"}}
	got := s.call("VERSION", "c1", guard.ProbeVariable+"=1")
	if got.code != 0 || !strings.Contains(got.out, `"supportedVersions":["0.1.0"`) || len(s.heard()) != 0 {
		t.Errorf("%+v, %v", got, s.heard())
	}
}
