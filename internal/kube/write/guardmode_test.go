package write

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestSwitchedOff(t *testing.T) {
	t.Parallel()
	const head = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"plumbline-guard","resourceVersion":"7"}`
	for in, want := range map[string]string{
		head + `,"data":{"mode":"enforce","mode.w17":"observe","other":"stays"}}`: head + `,"data":{"mode":"off","other":"stays"}}`,
		head + `}`:             head + `,"data":{"mode":"off"}}`,
		head + `,"data":null}`: head + `,"data":{"mode":"off"}}`,
		head + `,"data":{"mode":"off","mode.w1":"off"}}`: head + `,"data":{"mode":"off"}}`,
		head + `,"data":{"mode":"off"}}`:                 "",
	} {
		got, changed, err := switchedOff([]byte(in))
		if err != nil || changed != (want != "") {
			t.Errorf("%s: changed %v, %v", in, changed, err)
			continue
		}
		var a, b any
		_ = json.Unmarshal(got, &a)
		_ = json.Unmarshal([]byte(want), &b)
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if changed && !bytes.Equal(x, y) {
			t.Errorf("%s: got %s", in, x)
		}
	}
	for _, bad := range []string{"", "[]", `{"data":[]}`} {
		if _, _, err := switchedOff([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
