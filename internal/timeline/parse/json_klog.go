package parse

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"plumbline.dev/plumbline/internal/timeline/records"
)

var (
	needleCaller = []byte(`caller":"`)
	needleMsg    = []byte(`msg":`)
)

// wantsKlogJSON looks for a message of the kubelet that logs JSON. Its messages are those
// of the text format, quote and all.
func wantsKlogJSON(text []byte) bool {
	origin := callerOf(text)
	i := bytes.Index(text, needleMsg)
	return origin != nil && i >= 0 && heard(kubeletSays[string(origin)], text[i+len(needleMsg):]) != nil
}

// callerOf gives the source file in `"caller":"kubelet/kubelet.go:2546"`.
func callerOf(text []byte) []byte {
	i := bytes.Index(text, needleCaller)
	if i < 0 {
		return nil
	}
	text = text[i+len(needleCaller):]
	end := bytes.IndexAny(text, `:"`)
	if end < 0 {
		return nil
	}
	text = text[:end]
	return text[bytes.LastIndexByte(text, '/')+1:]
}

// klogJSON converts the line to the text format, which is then parsed like any other.
func (t *Parser) klogJSON(r *records.Record) {
	if len(r.Text) > maxJSON {
		return
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(r.Text, &fields) != nil {
		return
	}
	text := *r
	text.Style, text.Text = records.Klog, nil
	text.Origin = string(callerOf(r.Text))
	text.Text = append(text.Text, fields["msg"]...)
	if text.At.IsZero() {
		text.At = stamp(fields["ts"])
	}
	keys := make([]string, 0, len(fields))
	for k := range fields {
		if k != "msg" && k != "caller" && k != "ts" {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		text.Text = append(append(append(append(text.Text, ' '), k...), '='), asText(fields[k])...)
	}
	if p := heard(kubeletSays[text.Origin], text.Text); p != nil {
		p.parse(t, &text)
	}
}

// stamp reads milliseconds since 1970.
func stamp(b []byte) time.Time {
	ms, err := strconv.ParseFloat(string(b[:min(len(b), 32)]), 64)
	const year2200 = 7258118400000
	if err != nil || ms <= 0 || ms > year2200 {
		return time.Time{}
	}
	return time.UnixMicro(int64(ms * 1000)).UTC()
}

// named is an object as klog writes it.
type named struct{ Namespace, Name string }

func (n named) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// asText writes objects by their names, as the text format does.
func asText(value json.RawMessage) []byte {
	var one named
	var many []named
	switch {
	case len(value) > 1 && value[0] == '{' && json.Unmarshal(value, &one) == nil && one.Name != "":
		return strconv.AppendQuote(nil, one.String())
	case len(value) > 1 && value[0] == '[' && json.Unmarshal(value, &many) == nil:
		out := []byte{'['}
		for i, n := range many[:min(len(many), maxPods)] {
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendQuote(out, n.String())
		}
		return append(out, ']')
	default:
		return value
	}
}
