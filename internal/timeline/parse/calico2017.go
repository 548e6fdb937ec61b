package parse

import (
	"bytes"

	"plumbline.dev/plumbline/internal/timeline/records"
)

// wantsCalico2017 reports whether a logrus line may be one of Calico's plugin 1.x.
func wantsCalico2017(r *records.Record) bool { return said(r.Text) != silence }

// calico2017 parses a line that Calico's plugin 1.x wrote to the kubelet's log. It has no process
// ID of its own: the line with the environment opens a call, and the pod name, if a line has one,
// identifies the call.
func (t *Parser) calico2017(r *records.Record) {
	w := said(r.Text)
	if w == environment {
		who, netns := environ(r.Text)
		t.begin(r, t.cni.environ(r, who), netns)
		return
	}
	who := caller{verb: verbOf(w), pod: podOf(workload(r, w))}
	switch w {
	case deleteKey, deleteEmptyKey:
		if _, handle := handleIn(r.Text); !handle {
			who.verb = del
		}
	case releasing, releasingHandle:
		who.verb = del
	default:
	}
	if who.pod != "" {
		t.told(r, w, t.cni.named(r, who))
		return
	}
	k := t.cni.only(r, who.verb)
	if k == nil {
		k = new(call)
	}
	t.told(r, w, k)
}

// workload gives NAMESPACE.NAME as a line of 2017 has it: as a field, as a handle in
// quotes, or in a key of the datastore.
func workload(r *records.Record, w word) []byte {
	if v := field(r.Fields, "Workload"); v != nil {
		return v
	}
	switch w {
	case releasingHandle, handleCounted:
		v, _ := between(r.Text, "handle '", "'")
		return v
	case getKey, deleteKey, deleteEmptyKey:
		return workloadIn(r.Text)
	default:
		return nil
	}
}

// environ reads the environment of a call, and whether it has a network namespace.
func environ(text []byte) (who caller, netns bool) {
	who.sandbox = id(variable(text, "CNI_CONTAINERID="))
	ns, name := id(variable(text, "K8S_POD_NAMESPACE=")), id(variable(text, "K8S_POD_NAME="))
	if ns != "" && name != "" {
		who.pod = ns + "/" + name
	}
	switch string(variable(text, "CNI_COMMAND=")) {
	case "ADD":
		who.verb = add
	case "DEL":
		who.verb = del
	}
	return who, len(variable(text, "CNI_NETNS=")) > 0
}

// variable gives the value after a name in an environment, or in CNI_ARGS in it. Quotes have no
// meaning there.
func variable(text []byte, name string) []byte {
	for from := 0; ; {
		i := indexString(text[from:], name)
		if i < 0 {
			return nil
		}
		i += from
		from = i + len(name)
		if i == 0 || text[i-1] != ' ' && text[i-1] != '[' && text[i-1] != ';' && text[i-1] != '=' {
			continue
		}
		v := text[from:]
		if end := bytes.IndexAny(v, " ;]"); end >= 0 {
			v = v[:end]
		}
		return v
	}
}
