package calico

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// sameAsDecoded holds what the scan reads against what encoding/json reads.
func sameAsDecoded(t *testing.T, b []byte) (read int) {
	t.Helper()
	o := origin{name: "the-name", uid: "u", revision: "7", written: 5, keep: newArena()}
	compare := func(what string, ok bool, got, want any, err error) {
		t.Helper()
		if !ok {
			return
		}
		read++
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s of %.2000q:\nscanned %+v\ndecoded %+v, %v", what, b, got, want, err)
		}
	}
	block, ok := scanBlock(b, o)
	wantBlock, err := decodeBlock(b, o)
	compare("block", ok, block, wantBlock, err)
	handle, ok := scanHandle(b, o)
	wantHandle, err := decodeHandle(b, o)
	compare("handle", ok, handle, wantHandle, err)
	affinity, ok := scanAffinity(b, o)
	wantAffinity, err := decodeAffinity(b, o)
	compare("affinity", ok, affinity, wantAffinity, err)
	endpoint, ok := scanEndpoint("ns", b, o)
	wantEndpoint, err := decodeEndpoint("ns", b, o)
	compare("endpoint", ok, endpoint, wantEndpoint, err)
	h, ok := scanHeader(b)
	want, err := decodeHeader("x", b)
	compare("header", ok, plain(h), plain(want), err)
	return read
}

func plain(h header) [6]string {
	return [6]string{string(h.name), string(h.uid), string(h.revision), string(h.spec), h.written.String(), fmt.Sprint(h.labelled)}
}

const (
	blockText  = `{"affinity":"host:n1","allocations":[0,null,2,1],"attributes":[{"handle_id":"h","secondary":{"namespace":"a","node":"n1","pod":"p","timestamp":"2026-11-10 18:37:50.4847019 +0000 UTC"}},{"handle_id":"t","secondary":{"node":"n1","type":"vxlanTunnelAddress"}},{"releasedAt":"2026-01-01T00:00:00Z"}],"cidr":"10.0.0.0/30","deleted":false,"sequenceNumber":1800000000000000123,"sequenceNumberForAllocation":{"0":1800000000000000001,"10":3,"2":4},"strictAffinity":false,"unallocated":[1]}`
	handleText = `{"block":{"10.0.0.0/26":1,"fd00::/122":2},"deleted":false,"handleID":"k8s-pod-network.0123"}`
	endText    = `{"containerID":"41857f70ed13","endpoint":"eth0","interfaceName":"cali1","ipNetworks":["10.0.0.1/32","fd00::1/128"],"mac":"ee:ee:ee:ee:ee:ee","node":"n1","orchestrator":"k8s","pod":"p","profiles":["kns.a"],"serviceAccountName":"default"}`
	ownedText  = `{"cidr":"10.0.0.0/26","deleted":"false","node":"n1","state":"confirmed","type":"host"}`
)

func objectText(spec string) string {
	return `{"apiVersion":"crd.projectcalico.org/v1","kind":"X","metadata":{"annotations":{"projectcalico.org/metadata":"{\"creationTimestamp\":null}"},"creationTimestamp":"2026-05-29T17:18:11Z","generation":2,"labels":{"projectcalico.org/affinity-type":"host","projectcalico.org/hostname-hash":"52F7","projectcalico.org/ip-version":"4"},"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{".":{},"f:cidr":{}}},"manager":"m","operation":"Update","time":"2026-06-29T17:18:11Z"}],"name":"n","resourceVersion":"965","uid":"2592998a"},"spec":` + spec + `}`
}

// What Calico writes is scanned, not decoded; else all this would be for nothing.
func TestScanReadsWhatCalicoWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		scan func([]byte) bool
	}{
		{blockText, func(b []byte) bool { _, ok := scanBlock(b, origin{}); return ok }},
		{handleText, func(b []byte) bool { _, ok := scanHandle(b, origin{}); return ok }},
		{ownedText, func(b []byte) bool { _, ok := scanAffinity(b, origin{}); return ok }},
		{endText, func(b []byte) bool { _, ok := scanEndpoint("ns", b, origin{}); return ok }},
		{objectText(ownedText), func(b []byte) bool { h, ok := scanHeader(b); return ok && h.labelled }},
	} {
		if !c.scan([]byte(c.text)) {
			t.Errorf("not scanned: %s", c.text)
		}
		sameAsDecoded(t, []byte(c.text))
	}
}

// One change at a time to what is usual: whatever it makes of it, it is no other row.
func TestScanIsAsDecoded(t *testing.T) {
	t.Parallel()
	bits := []string{`"cidr"`, `"CIDR"`, `"deleted"`, `null`, `true`, `"x"`, `"\u0041"`, `"ä"`, `-0`, `01`, `1e3`, `1.5`, `9223372036854775808`, `18446744073709551616`, `{}`, `[]`, `{"a":1}`, `,`, `}`, ` `, "\n", "\x00", `"pod":"q","pod":"r"`, `"true"`}
	for _, text := range []string{blockText, handleText, ownedText, endText, objectText(ownedText), objectText("{}")} {
		read := 0
		step, least := 1+len(text)/250, 100
		if testing.Short() { // with the race detector
			step, least = 1+len(text)/25, 10
		}
		for i := 0; i < len(text); i += step {
			for _, bit := range bits {
				read += sameAsDecoded(t, []byte(text[:i]+bit+text[i:]))
				if j := i + strings.IndexAny(text[i:], ",:}]"); j > i {
					read += sameAsDecoded(t, []byte(text[:i]+bit+text[j:]))
				}
			}
			read += sameAsDecoded(t, []byte(text[:i]))
			read += sameAsDecoded(t, []byte(text[:i]+text[i+1:]))
		}
		if read < least {
			t.Errorf("only %d were read", read)
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range []string{blockText, handleText, ownedText, endText, objectText(handleText), `{"block":{"10.0.0.0/26":1,"10.0.0.0/26":2}}`, `{"attributes":[{"secondary":{"b":"1","a":"2"}}],"cidr":"10.0.0.0/30"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) { sameAsDecoded(t, b) })
}
