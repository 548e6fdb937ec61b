package parse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// auditKeys are those that are looked for; encoding/json takes them in any case, the API
// server in one.
var auditKeys = strings.Fields("verb user username userAgent stageTimestamp objectRef resource subresource namespace name uid responseStatus code requestObject " +
	"gracePeriodSeconds preconditions target spec nodeName metadata annotations status podIP " + annotatedIP + " " + annotatedContainer)

// asWritten reports whether all keys are spelled as the API server does.
func asWritten(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, c := range text {
		if c > '~' { // some letters beyond are another's other case
			return false
		}
	}
	for _, k := range auditKeys {
		if bytes.Count(lower, []byte(strings.ToLower(k))) != bytes.Count(text, []byte(k)) {
			return false
		}
	}
	return true
}

// auditLines gives recorded lines of an audit log, and some that are odd.
func auditLines(t testing.TB) [][]byte {
	t.Helper()
	lines := [][]byte{
		[]byte(`{"verb":null,"user":{"username":"a\u0062c"},"objectRef":{"name":"x"} , "responseStatus":{"code":2e2}}`),
		[]byte(` { "verb" : "create" , "user" : {} , "user":{"username":"b"},"responseStatus":{"code": 201 },"requestObject": [1, "}"] } `),
		[]byte(`{"verb":"patch","requestObject":{"metadata":{"uid":"u","annotations":{"cni.projectcalico.org/podIP":null,"cni.projectcalico.org/containerID":"","x":1}},"status":{"podIP":"10.0.0.1"}}}`),
		[]byte(`{"verb":"delete","requestObject":{"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"target":{"name":"n"},"spec":{"nodeName":"m"}}}`),
		[]byte(`{"verb":"x"`), []byte(`{}`), []byte(`{"verb":"a"}}`), []byte(`{"v\u0065rb":"a"}`), []byte(`{"responseStatus":{"code":+1}}`),
	}
	for _, line := range seedLines(t) {
		if ofAudit(line) {
			lines = append(lines, line)
		}
	}
	bodies := []string{
		"", `,"requestObject":{"gracePeriodSeconds":0,"target":{"name":"n"},"metadata":{"annotations":{"cni.projectcalico.org/podIP":""}}}`,
		`,"requestObject":{"involvedObject":{"kind":"Pod","namespace":"a","name":"b"},"reason":"Killing"}`,
		`,"requestObject":{"status":{"conditions":[{"type":"Ready","status":"False"}],"podIP":"10.0.0.1"}}`,
	}
	for _, verb := range strings.Fields("get create update patch delete deletecollection") {
		for _, of := range strings.Fields("pods events nodes ipamhandles workloadendpoints leases") {
			for _, sub := range []string{"", "status", "binding", "eviction"} {
				for _, body := range bodies {
					lines = append(lines, fmt.Appendf(nil, `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":%q,"user":{"username":"system:node:n"},"userAgent":"x",`+
						`"objectRef":{"resource":%q,"namespace":"a","name":"b","subresource":%q},"responseStatus":{"code":200}%s}`, verb, of, sub, body))
				}
			}
		}
	}
	return lines
}

// scansAlike holds what is scanned against what encoding/json reads.
func scansAlike(t *testing.T, text []byte) {
	t.Helper()
	if !json.Valid(text) || !asWritten(text) {
		var a auditLine
		a.decode(text)
		return
	}
	var got, want auditLine
	if read, ok := json.Unmarshal(text, &want) == nil, got.scan(text); ok && (!read || !reflect.DeepEqual(got, want)) {
		t.Errorf("%s\nis scanned as  %+v\nand decoded as %+v, %v", text, got, want, read)
	}
	for _, text := range [][]byte{text, want.RequestObject} {
		var got, want podBody
		if read, ok := json.Unmarshal(text, &want) == nil, got.scan(text); ok {
			for k := range want.Metadata.Annotations {
				if k != annotatedIP && k != annotatedContainer {
					delete(want.Metadata.Annotations, k)
				}
			}
			if len(want.Metadata.Annotations) == 0 {
				want.Metadata.Annotations = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nis scanned as  %+v\nand decoded as %+v, %v", text, got, want, read)
			}
		}
	}
}

// wantedIfTold: what would become an event is wanted.
func wantedIfTold(t *testing.T, text []byte) (told bool) {
	t.Helper()
	r := records.Record{Style: records.JSON, Text: text, Raw: text}
	tl := New(&timeline.File{}, func(e timeline.Event) { told = told || e.Kind != timeline.CredentialSeen })
	tl.audit(&r)
	if told && ofAudit(text) && inOrder(text) && !wantsAudit(text) {
		t.Errorf("passed over: %s", text)
	}
	return told
}

// inOrder reports whether a line's parts stand as the API server puts them, each once.
func inOrder(text []byte) bool {
	order := [...]string{`"stage":"ResponseComplete"`, `"verb":"`, `"objectRef":{"resource":"`, `"requestObject":`}
	last := 0
	for i, part := range order {
		at := strings.Index(string(text), part)
		if n := bytes.Count(text, []byte(part[:strings.IndexByte(part, ':')])); at < last || n != 1 {
			return i == len(order)-1 && n == 0
		}
		last = at
	}
	return asWritten(text) && bytes.IndexByte(text, '\\') < 0
}

func TestAuditScan(t *testing.T) {
	t.Parallel()
	scanned, told := 0, 0
	for _, line := range auditLines(t) {
		scansAlike(t, line)
		if new(auditLine).scan(line) {
			scanned++
		}
		if wantedIfTold(t, line) {
			told++
		}
	}
	if scanned < 500 || told < 100 {
		t.Errorf("%d lines were scanned, %d told of", scanned, told)
	}
}

// FuzzAudit: what is scanned is what encoding/json reads, and what becomes an event is
// wanted.
func FuzzAudit(f *testing.F) {
	for _, line := range auditLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		scansAlike(t, text)
		wantedIfTold(t, text)
	})
}
