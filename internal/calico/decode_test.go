package calico

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/calico/object"
	"plumbline.dev/plumbline/internal/lossless"
)

// again decodes an object of Calico's and encodes it again.
func again(kind string, b []byte) ([]byte, error) {
	switch kind {
	case "block":
		return recode(b, func(v *object.Block) *lossless.Extra { return &v.Extra })
	case "handle":
		return recode(b, func(v *object.Handle) *lossless.Extra { return &v.Extra })
	case "affinity":
		return recode(b, func(v *object.Affinity) *lossless.Extra { return &v.Extra })
	case "endpoint":
		return recode(b, func(v *object.Endpoint) *lossless.Extra { return &v.Extra })
	case "pool":
		return recode(b, func(v *ipPool) *lossless.Extra { return &v.Extra })
	case "reservation":
		return recode(b, func(v *ipReservation) *lossless.Extra { return &v.Extra })
	case "cluster":
		return recode(b, func(v *clusterInformation) *lossless.Extra { return &v.Extra })
	case "config":
		return recode(b, func(v *ipamConfig) *lossless.Extra { return &v.Extra })
	default:
		return nil, errors.New("no kind " + kind)
	}
}

func recode[T any](b []byte, extra func(*T) *lossless.Extra) ([]byte, error) {
	v, err := object.Decode("x", b, extra)
	if err != nil {
		return nil, err
	}
	return lossless.Encode(v, *extra(&v))
}

// generic parses JSON with its numbers as text: they exceed a float's precision.
func generic(t testing.TB, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

func sameAgain(t testing.TB, kind string, b []byte) {
	t.Helper()
	out, err := again(kind, b)
	if err != nil {
		t.Errorf("%s %s: %v", kind, b, err)
		return
	}
	if got, want := generic(t, out), generic(t, b); !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\nread    %s\nwritten %s", kind, b, out)
	}
}

func TestDecodedAndEncodedAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, text string }{
		{"block", `{"cidr":"10.0.0.0/30","affinity":"host:n1","allocations":[0,null,null,1],"unallocated":[1,2],"attributes":[{"handle_id":"h","secondary":{"node":"n1"}},{"releasedAt":"2026-01-01T00:00:00Z"}],"sequenceNumber":18446744073709551615,"sequenceNumberForAllocation":{"0":1800000000000000001},"deleted":false,"strictAffinity":false}`},
		{"block", `{"cidr":"10.0.0.0/30","affinity":null,"allocations":null,"unallocated":[],"attributes":[{"handle_id":null,"secondary":null,"alternateOwnerAttrs":{},"later":[1,{"x":9007199254740993}]}],"affinityClaimTime":null,"future":{"a":1}}`},
		{"handle", `{"handleID":"h","block":{"10.0.0.0/26":1},"deleted":false}`},
		{"handle", `{"block":{},"x":1}`},
		{"affinity", `{"state":"confirmed","node":"n","type":"host","cidr":"10.0.0.0/26","deleted":"false"}`},
		{"affinity", `{"state":"pending","deleted":true}`},
		{"pool", `{"cidr":"10.0.0.0/16","blockSize":26,"ipipMode":"Never","vxlanMode":"Always","natOutgoing":true,"nodeSelector":"all()","allowedUses":["Workload","Tunnel"],"assignmentMode":"Automatic"}`},
	} {
		sameAgain(t, c.kind, []byte(c.text))
	}
}

// What is not as it should be is refused with the object's name; nothing panics.
func TestRefused(t *testing.T) {
	t.Parallel()
	deep := `{"cidr":"10.0.0.0/30","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`
	for _, text := range []string{
		``, `null`, `[]`, `{"cidr":7}`, `{"cidr":"nonsense"}`, `{"allocations":"x","cidr":"10.0.0.0/30"}`, `{"cidr":"10.0.0.0/30","sequenceNumber":1e300}`,
		`{"cidr":"10.0.0.0/30","sequenceNumberForAllocation":{"x":1}}`, deep, `{"cidr":"` + strings.Repeat("1", maxObject) + `"}`,
	} {
		if _, err := blockRow([]byte(text), origin{name: "the-name"}); err == nil || !strings.Contains(err.Error(), "the-name") {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

func TestSequenceNumbersAreWhole(t *testing.T) {
	t.Parallel()
	b, err := blockRow([]byte(`{"cidr":"10.0.0.0/30","sequenceNumber":1800000000000000123,"sequenceNumberForAllocation":{"3":1800000000000000121}}`), origin{name: "b"})
	if err != nil || b.Sequence != 1800000000000000123 || b.SequenceOf(3) != 1800000000000000121 {
		t.Errorf("%+v, %v", b, err)
	}
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(`{"cidr":"10.0.0.0/30","allocations":[0,null],"attributes":[{"handle_id":"h"}],"sequenceNumberForAllocation":{"0":1}}`))
	f.Add([]byte(`{"handleID":"h","block":{"10.0.0.0/26":1},"deleted":false}`))
	f.Add([]byte(`{"state":"confirmed","node":"n","cidr":"fd00::/122","deleted":"false"}`))
	f.Add([]byte(`{"metadata":{"name":"x","managedFields":[{"time":"2026-01-01T00:00:00Z"}]},"spec":{"node":"n","ipNetworks":["10.0.0.1/32"]}}`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = blockRow(b, origin{})
		_, _ = handleRow(b, origin{})
		_, _ = affinityRow(b, origin{})
		_, _ = poolRow(b, origin{})
		_, _ = reservationRow(b, origin{})
		_, _ = endpointRow("ns", b, origin{})
		_, _ = hostRow(b, origin{})
		_, _ = collectorRow(b)
		_, _, _ = etcdEndpoint("k", b, "1")
		_, _ = parseObject("x", b)
		_, _, _ = etcdAffinity(keyHosts+string(b), b, "1")
	})
}

// What decodes is the same when it is encoded again, whatever is in it.
func FuzzAgain(f *testing.F) {
	f.Add([]byte(`{"cidr":"10.0.0.0/30","allocations":[0,null],"attributes":[{"handle_id":"h","x":1}],"y":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []string{"block", "handle", "affinity"} {
			if out, err := again(kind, b); err == nil && duplicateFree(b) {
				if got, want := generic(t, out), generic(t, b); !reflect.DeepEqual(got, want) {
					t.Errorf("%s:\nread    %s\nwritten %s", kind, b, out)
				}
			}
		}
	})
}

// duplicateFree is a cheap guard: JSON with a name twice, or in another case, has no one meaning.
func duplicateFree(b []byte) bool {
	lower := bytes.ToLower(b)
	if !bytes.Equal(lower, b) {
		return false
	}
	seen := map[string]bool{}
	for _, part := range bytes.Split(b, []byte(`"`)) {
		if s := string(part); len(s) > 0 && seen[s] && strings.Trim(s, ",:[]{} 0123456789nul") != "" {
			return false
		}
		seen[string(part)] = true
	}
	return true
}

// Two attributes that differ in anything, a timestamp included, are two.
func TestAttributesAreWhole(t *testing.T) {
	t.Parallel()
	b, err := blockRow([]byte(`{"cidr":"10.0.0.0/30","attributes":[
		{"handle_id":"h","secondary":{"pod":"p","timestamp":"1"}},{"handle_id":"h","secondary":{"pod":"p","timestamp":"2"}},{"handle_id":"h","secondary":{"pod":"p","timestamp":"1"}}]}`), origin{name: "b"})
	if err != nil || b.Attributes[0] == b.Attributes[1] || b.Attributes[0] != b.Attributes[2] {
		t.Errorf("%+v, %v", b.Attributes, err)
	}
}
