package repair_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"plumbline.dev/plumbline/internal/repair"
)

// Plans and journals are on disks: what a step of each kind looks like there does not change.
func TestStepsAreWrittenAsTheyAreRead(t *testing.T) {
	t.Parallel()
	for _, change := range []string{
		`"ordinals":[{"for":"f","ip":"10.0.0.1","from":{"handle":"h","sequence":"1794736714403100461"},"to":{"handle":"<&>","secondary":{"pod":"a"}}}]`,
		`"mend":{"owners":[{"for":"f","ip":"10.0.0.1"}]}`,
		`"mend":{}`,
		`"newBlock":{"node":"n1","strict":true,"ordinals":[{"for":"f","ip":"10.0.0.1"}]}`,
		`"count":{"handle":"h","blocks":["10.0.0.0/30"],"raise":[{"block":"10.0.0.0/30","ips":["10.0.0.1"]}],"unchanged":"9"}`,
		`"affinity":{"node":"n1","cidr":"10.0.0.0/30","want":"pending","from":"confirmed","uid":"u","label":{"k":"v"}}`,
		`"endpoint":{"want":{"kind":"WorkloadEndpoint","b":1,"a":"<"},"container":"c","instead":{"kind":"endpoint","name":"a/b"}}`,
		`"annotate":{"uid":"u","ips":["10.0.0.1/32"],"container":"c","from":"d","empty":true}`,
		`"evict":{"uid":"u","keeps":[{"ip":"10.0.0.1","block":"10.0.0.0/30","handle":"h"}],"has":{"namespace":"a","pod":"b","uid":"u","node":"n1","container":"c","ips":["10.0.0.1"]}}`,
		`"node":{"verb":"unlink","expect":"x","args":{"index":"7"}}`,
		`"await":{"node":"n1","ip":"10.0.0.1","device":"cali1","seconds":90}`,
		`"restart":{"uid":"u"}`,
	} {
		text := `{"id":1,"do":"do","on":{"kind":"block","name":"10.0.0.0/30"},"for":["f"],"always":true,` + change + `}`
		var s repair.Step
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Errorf("%s: %v", change, err)
			continue
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode([]repair.Step{s}); err != nil || b.String() != "["+text+"]\n" {
			t.Errorf("%v\nread    %s\nwritten %s", err, text, &b)
		}
		escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(text)
		if got, err := json.Marshal(&s); err != nil || string(got) != escaped {
			t.Errorf("%v\nwant    %s\nwritten %s", err, escaped, got)
		}
	}
}

// A step that is not understood in full is not read, whoever reads it.
func TestStepsThatAreNotUnderstood(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown kind":                   `{"id":1,"reboot":{}}`,
		"unknown field of a step":        `{"id":1,"force":true,"mend":{}}`,
		"unknown field in a change":      `{"id":1,"restart":{"uid":"u","force":true}}`,
		"unknown field deep in a change": `{"id":1,"ordinals":[{"for":"f","ip":"10.0.0.1","to":{"handle":"h","force":true}}]}`,
		"unknown field of the object":    `{"id":1,"on":{"kind":"pod","name":"a/b","force":true},"mend":{}}`,
		"two kinds":                      `{"id":1,"annotate":{"uid":"u"},"evict":{"uid":"u"}}`,
		"another type":                   `{"id":1,"mend":[]}`,
		"no step":                        `[]`,
	} {
		var s repair.Step
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s: read as %+v", name, s)
		}
	}
}
