package pick

import (
	"bytes"
	"strings"
)

// A podName is a pod's name in all the ways in which kubelet, runtimes and Calico spell it:
// NS/NAME, NAME_NS, NS_NAME, NS.NAME, as values of two keys, and as part of a workload
// endpoint's name, with its dashes doubled.
type podName struct {
	ns, name, workload []byte
	doubled            bool // the workload's spelling is another one
}

func newPodName(ns, name string) *podName {
	if name == "" {
		return nil
	}
	return &podName{
		ns: []byte(ns), name: []byte(name), doubled: strings.Contains(name, "-"),
		workload: []byte("-k8s-" + strings.ReplaceAll(name, "-", "--")),
	}
}

// in tells that a line names the pod.
func (p *podName) in(line []byte) bool {
	if p == nil {
		return false
	}
	there := bytes.Contains(line, p.name)
	if there && p.named(line) {
		return true
	}
	return (there || p.doubled) && p.endpoint(line)
}

// named goes through the places where the name stands, whole.
func (p *podName) named(line []byte) bool {
	keyed := false
	for at := range places(line, p.name) {
		end := at + len(p.name)
		if !endsWord(line, end) {
			continue
		}
		if at > len(p.ns) && isJoint(line[at-1]) && bytes.HasSuffix(line[:at-1], p.ns) && beginsLabel(line, at-1-len(p.ns)) {
			return true
		}
		if !beginsWord(line, at) {
			continue
		}
		if end < len(line) && line[end] == '_' && bytes.HasPrefix(line[end+1:], p.ns) && endsLabel(line, end+1+len(p.ns)) {
			return true
		}
		keyed = keyed || podKey(keyBefore(line, at))
	}
	return keyed && p.inNamespace(line, false)
}

// endpoint tells that a workload endpoint's name is the pod's. It has no namespace: that is
// believed unless the line names another one.
func (p *podName) endpoint(line []byte) bool {
	for at := range places(line, p.workload) {
		rest := line[at+len(p.workload):]
		if len(rest) > 0 && rest[0] == '-' && (len(rest) == 1 || rest[1] != '-') {
			return p.inNamespace(line, true)
		}
	}
	return false
}

var namespaceKey = []byte("amespace")

// inNamespace tells that the pod's namespace is the value of a key; or, where none is, what
// silent says.
func (p *podName) inNamespace(line []byte, silent bool) bool {
	for at := range places(line, namespaceKey) {
		value, ok := valueAfter(line, at+len(namespaceKey))
		if !ok {
			continue
		}
		if bytes.Equal(value, p.ns) {
			return true
		}
		silent = silent && len(value) == 0
	}
	upper := []byte("K8S_POD_NAMESPACE=")
	if i := bytes.Index(line, upper); i >= 0 {
		value, _ := valueAfter(line, i+len(upper)-1)
		return bytes.Equal(value, p.ns)
	}
	return silent
}
