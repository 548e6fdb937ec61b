package lossless_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"plumbline.dev/plumbline/internal/lossless"
)

type thing struct {
	Name  lossless.Opt[string]         `json:"name,omitzero"`
	Count lossless.Opt[uint64]         `json:"count,omitzero"`
	Map   lossless.Opt[map[string]int] `json:"map,omitzero"`
	Flag  lossless.Opt[bool]           `json:"flag,omitzero"`
}

func roundTrip(b []byte) (any, any, error) {
	var v thing
	extra, err := lossless.Decode(b, &v)
	if err != nil {
		return nil, nil, err
	}
	out, err := lossless.Encode(v, extra)
	if err != nil {
		return nil, nil, err
	}
	return generic(b), generic(out), nil
}

// generic parses JSON with its numbers as text, so that none is rounded.
func generic(b []byte) any {
	var v map[string]json.RawMessage
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	out := map[string]string{}
	for k, raw := range v {
		var x any
		_ = json.Unmarshal(raw, &x)
		if _, isNumber := x.(float64); isNumber {
			out[k] = string(raw)
			continue
		}
		c, _ := json.Marshal(x)
		out[k] = string(c)
	}
	return out
}

func TestNothingIsLost(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		`{}`, `{"name":null}`, `{"name":""}`, `{"name":"x","flag":false}`, `{"map":{}}`, `{"map":null,"count":0}`,
		`{"count":18446744073709551615}`, `{"later":{"a":[1,null]},"name":"x","x-y":9007199254740993}`,
	} {
		want, got, err := roundTrip([]byte(s))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{`{"name":1}`, `{"count":-1}`, `{"count":1.5}`, `{} {}`, `[]`, `null`, ``, `{"later":1,"count":"x"}`} {
		if _, _, err := roundTrip([]byte(s)); err == nil {
			t.Errorf("%s passes", s)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"name":"x","later":1}`))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _, _ = roundTrip(b) })
}
