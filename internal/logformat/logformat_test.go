package logformat

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"testing"
)

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		args       []string
		json, fail bool
	}{
		{nil, false, false},
		{[]string{"--log-format=text"}, false, false},
		{[]string{"--log-format=json"}, true, false},
		{[]string{"--log-format=xml"}, false, true},
	} {
		var f Format
		set := flag.NewFlagSet("daemon", flag.ContinueOnError)
		set.SetOutput(io.Discard)
		Var(set, &f)
		if err := set.Parse(c.args); (err != nil) != c.fail {
			t.Errorf("%q: %v", c.args, err)
		}
		var out bytes.Buffer
		f.Logger(&out).Info("pod\nwith a line", "node", "n1")
		if json.Valid(out.Bytes()) != c.json || bytes.Count(out.Bytes(), []byte("\n")) != 1 {
			t.Errorf("%q: %s", c.args, out.String())
		}
	}
}
