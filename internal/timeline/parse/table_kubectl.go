package parse

import (
	"strings"

	"plumbline.dev/plumbline/internal/timeline"
	"plumbline.dev/plumbline/internal/timeline/records"
)

// podListed gives the cell of the name in a row of `kubectl get pod -o wide`: 1 after a namespace,
// else 0; -1 if it is no such row.
func podListed(c *cells) int {
	for i := range 2 {
		row := c.all[i:]
		if c.n >= i+7 && (i == 0 || plainName(c.all[0])) && plainName(row[0]) && ofAll(row[1]) && titled(row[2]) && restarts(row[3]) &&
			age(row[4]) && (none(row[5]) || address(row[5]).IsValid()) && (none(row[6]) || plainName(row[6])) {
			return i
		}
	}
	return -1
}

// podRow parses NAME READY STATUS RESTARTS AGE IP NODE.
func (t *Parser) podRow(r *records.Record, ahead, row [][]byte) {
	e := timeline.Event{Kind: timeline.PodSeen, Pod: t.seen.asked.pod(r, ahead, row[0]), Address: address(row[5]), Node: nodeName(row[6]), Note: string(row[2])}
	if e.Pod != "" && e.Address.IsValid() {
		t.sayOf(r, "kubectl", e)
	}
}

// eventListed gives the cell of the age in a row of `kubectl get events`: 1 after a namespace, else
// 0; -1 if it is no such row. Rows of -o wide are not read: their empty cells cannot be recognised.
func eventListed(c *cells) int {
	for i := range 2 {
		row := c.all[i:]
		if c.n != i+5 || i == 1 && !plainName(c.all[0]) || !lastSeen(row[0]) || !titled(row[2]) {
			continue
		}
		if kind := string(row[1]); kind != "Normal" && kind != "Warning" {
			continue
		}
		if kind, name := object(row[3]); kind != "" && name != nil {
			return i
		}
	}
	return -1
}

// object reads pod/NAME and node/NAME, as kubectl events writes them with a capital letter too; other
// objects are ignored.
func object(b []byte) (kind string, name []byte) {
	for _, kind := range [...]string{"pod", "node"} {
		if n := len(kind) + 1; len(b) > n && strings.EqualFold(string(b[:n]), kind+"/") && plainName(b[n:]) {
			return kind, b[n:]
		}
	}
	return "", nil
}

// eventRow parses LAST SEEN, TYPE, REASON, OBJECT and MESSAGE.
func (t *Parser) eventRow(r *records.Record, ahead, row [][]byte) {
	kind, name := object(row[3])
	pod := t.seen.asked.pod(r, ahead, name)
	e := timeline.Event{Count: times(row[0])}
	switch {
	case kind == "node":
		e.Node = nodeName(name)
	case pod == "":
		return
	default:
		e.Pod = pod
	}
	t.happened(r, e, string(row[2]), row[4])
}
