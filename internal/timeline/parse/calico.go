package parse

import (
	"strings"

	"plumbline.dev/plumbline/internal/scrub"
	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// wantsCalico reports whether a line in Calico's own format may contain an event. Of Felix, which
// writes most of them, only the line with its host name is used; kube-controllers also assigns
// addresses, but not to pods.
func wantsCalico(r *records.Record) bool {
	switch {
	case strings.HasPrefix(r.Origin, "felix/"):
		return len(r.Text) > 0 && r.Text[0] == 'P' && said(r.Text) == felixHostname
	case strings.HasPrefix(r.Origin, "kube-controllers/"):
		w := said(r.Text)
		return w == leakCandidate || w == leakReleased
	default:
		return said(r.Text) != silence
	}
}

// calico parses a line of Calico's CNI plugin, IPAM, Felix or kube-controllers. The process ID
// identifies the CNI call.
func (t *Parser) calico(r *records.Record) {
	w := said(r.Text)
	switch w {
	case felixHostname:
		t.felix(r)
	case leakCandidate, leakReleased:
		t.controllers(r, w)
	case environment:
		who, netns := environ(r.Text)
		k := t.cni.today(r, who)
		t.begin(r, k, netns)
	default:
		t.told(r, w, t.cni.today(r, bracketed(r.Text, w)))
	}
}

// told emits the events of a line of call k.
func (t *Parser) told(r *records.Record, w word, k *call) {
	switch {
	case w >= autoAssign && w <= commandCompleted:
		t.ipam(r, w, k)
	case w >= endpointMissing && w <= delError:
		t.deletion(r, w, k)
	default:
		t.addition(r, w, k)
	}
	if w != commandCompleted && w != keyNotFound && w != deleteKey && w != deleteEmptyKey {
		k.asked = silence
	}
	t.credential(r, k)
}

// bracketed reads the caller from a line in Calico's own format. Workload is the pod name only in
// lines of 2017, which have no sandbox.
func bracketed(text []byte, w word) caller {
	who := caller{sandbox: id(field(text, "ContainerID")), verb: verbOf(w), main: w < autoAssign}
	if ns, name := id(field(text, "Namespace")), id(field(text, "Pod")); ns != "" && name != "" {
		who.pod = ns + "/" + name
	}
	if who.sandbox == "" {
		who.sandbox = timeline.SandboxOf(id(field(text, "handle")))
	}
	if who.sandbox == "" && who.pod == "" {
		who.pod = podOf(field(text, "Workload"))
	}
	return who
}

// verbOf gives the verb of calls that log this word. IPAM's words do not show it: an ADD that
// failed releases, too.
func verbOf(w word) verb {
	switch w {
	case extractedAdd, usingAddresses, resultGiven, populated, deviceChosen, deviceWritten, endpointWritten, addError, addCleanup, autoAssign, assigned, assignedResult:
		return add
	case endpointMissing, endpointKept, endpointLeft, endpointDone, delDone, delError:
		return del
	default:
		return unknown
	}
}

// begin reports that a call was started.
func (t *Parser) begin(r *records.Record, k *call, netns bool) {
	k.netns = k.netns || netns
	switch k.verb {
	case add:
		t.sayOnce(r, "cni", k, timeline.AddBegin, "", "")
	case del:
		t.sayOnce(r, "cni", k, timeline.DelBegin, "", "")
	default:
	}
	t.credential(r, k)
}

// credential reports that a line contains a credential.
func (t *Parser) credential(r *records.Record, k *call) {
	if kinds := scrub.Find(r.Raw); len(kinds) > 0 {
		e := k.event(timeline.CredentialSeen)
		e.Note = strings.Join(kinds, ", ")
		t.say(r, "cni", e)
	}
}

// named reports the name that Calico uses for the node, when it changes.
func (t *Parser) named(r *records.Record, source, name string) {
	if name == "" || !t.cni.nodeNamed(r.Node+"\x00"+source, name) {
		return
	}
	t.say(r, source, timeline.Event{Kind: timeline.NodeNamed, Object: name})
}
